#ifndef RINGSIDE_MODELS_NETWORKS_INITIAL_VALUES_H_
#define RINGSIDE_MODELS_NETWORKS_INITIAL_VALUES_H_

#include <cstddef>
#include <random>
#include <span>

namespace ringside {

/// The generator of initial parameters, made from a seed. Tensors take its numbers in the order in
/// which the forward pass reads them.
using InitialGenerator = std::mt19937;
InitialGenerator MakeInitialGenerator(std::uint64_t seed);

/// torch::nn's default for the weight and the bias of a layer whose outputs depend on `fan_in`
/// inputs each: uniform between -bound and bound = 1 / sqrt(fan_in). (It is Kaiming's with a =
/// sqrt(5).)
double DefaultBound(std::size_t fan_in);

/// Fills `out` with values between -bound and bound: the generator's numbers, of which 24 bits are
/// used each, as torch's `uniform_` does on a CPU without fused multiply-add. The same bits on
/// every machine.
void FillUniform(std::span<float> out, double bound, InitialGenerator& generator);

}  // namespace ringside

#endif  // RINGSIDE_MODELS_NETWORKS_INITIAL_VALUES_H_

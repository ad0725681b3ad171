// One pass over memory: 28 bytes of traffic a parameter (p, g, m, v in; p, m, v out).
#include "ringside/common/optim/adam.h"

#include <algorithm>
#include <cmath>

#include "ringside/common/base/finite.h"
#include "ringside/common/base/vector_clones.h"

namespace ringside {

// Computes bias corrections in double: in float, 1 - beta2^n loses most digits for small n.
AdamScalars AdamScalarsOf(const OptimizerOptions& options, const Update& update) {
  const bool decoupled = options.kind == OptimizerOptions::Kind::kAdamW;
  const auto number = static_cast<double>(update.number);
  const double correction1 = 1 - std::pow(options.beta1, number);
  const double correction2 = 1 - std::pow(options.beta2, number);
  const double shrink = decoupled ? 1 - update.learning_rate * options.weight_decay : 1;
  return {.scale = static_cast<float>(options.gradient_scale),
          .l2 = static_cast<float>(decoupled ? 0 : options.weight_decay),
          .shrink = static_cast<float>(shrink),
          .beta1 = static_cast<float>(options.beta1),
          .one_minus_beta1 = static_cast<float>(1 - options.beta1),
          .beta2 = static_cast<float>(options.beta2),
          .one_minus_beta2 = static_cast<float>(1 - options.beta2),
          .step_size = static_cast<float>(update.learning_rate / correction1),
          .root_correction = static_cast<float>(std::sqrt(correction2)),
          .epsilon = static_cast<float>(options.epsilon)};
}

namespace {

// `in` and `out` may be the same, so they cannot be restrict. ivdep tells the compiler that no
// iteration depends on another. Returns the largest `MagnitudeBits` of the gradients, and leaves a
// parameter and its state as they were where the gradient is not finite.
RINGSIDE_VECTOR_CLONES
std::uint32_t Step(const float* in, float* out, const float* grads, float* first, float* second,
                   std::size_t size, AdamScalars s) {
  std::uint32_t largest = 0;
#pragma GCC ivdep
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint32_t bits = MagnitudeBits(grads[i]);
    largest = std::max(largest, bits);
    const float p = in[i];
    const float old_m = first[i];
    const float old_v = second[i];
    const float g = s.scale * grads[i] + s.l2 * p;
    const float m = s.beta1 * old_m + s.one_minus_beta1 * g;
    const float v = s.beta2 * old_v + s.one_minus_beta2 * g * g;
    first[i] = bits < kInfinityBits ? m : old_m;
    second[i] = bits < kInfinityBits ? v : old_v;
    const float denominator = std::sqrt(v) / s.root_correction + s.epsilon;
    const float next = p * s.shrink - s.step_size * (m / denominator);
    out[i] = bits < kInfinityBits ? next : p;
  }
  return largest;
}

}  // namespace

Adam::Adam(const OptimizerOptions& options, std::size_t elements)
    : HostOptimizer(elements, 2 * elements), options_(options) {}

std::uint32_t Adam::ApplyBlock(std::size_t offset, std::span<const float> in, std::span<float> out,
                               std::span<const float> grads, const Update& update) {
  float* first = state().data() + offset;
  return Step(in.data(), out.data(), grads.data(), first, first + elements(), in.size(),
              AdamScalarsOf(options_, update));
}

}  // namespace ringside

// One pass over memory. A parameter costs 12 bytes of traffic (p and g in, p out), or 20 with
// momentum.
#include "ringside/common/optim/sgd.h"

#include <algorithm>

#include "ringside/common/base/finite.h"
#include "ringside/common/base/vector_clones.h"

namespace ringside {
namespace {

struct Scalars {
  float rate;
  float momentum;
  float weight_decay;
  float scale;  // of gradients
};

// `in` and `out` may be the same, so they cannot be restrict. ivdep tells the compiler that no
// iteration depends on another. Each loop returns the largest `MagnitudeBits` of the gradients, and
// leaves a parameter and its state as they were where the gradient is not finite.
RINGSIDE_VECTOR_CLONES
std::uint32_t Plain(const float* in, float* out, const float* grads, std::size_t size, Scalars s) {
  std::uint32_t largest = 0;
#pragma GCC ivdep
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint32_t bits = MagnitudeBits(grads[i]);
    largest = std::max(largest, bits);
    const float p = in[i];
    const float next = p - s.rate * (s.scale * grads[i] + s.weight_decay * p);
    out[i] = bits < kInfinityBits ? next : p;
  }
  return largest;
}

RINGSIDE_VECTOR_CLONES
std::uint32_t Momentum(const float* in, float* out, const float* grads, float* velocity,
                       std::size_t size, Scalars s) {
  std::uint32_t largest = 0;
#pragma GCC ivdep
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint32_t bits = MagnitudeBits(grads[i]);
    largest = std::max(largest, bits);
    const float p = in[i];
    const float old = velocity[i];
    const float v = s.momentum * old + (s.scale * grads[i] + s.weight_decay * p);
    velocity[i] = bits < kInfinityBits ? v : old;
    out[i] = bits < kInfinityBits ? p - s.rate * v : p;
  }
  return largest;
}

RINGSIDE_VECTOR_CLONES
std::uint32_t Nesterov(const float* in, float* out, const float* grads, float* velocity,
                       std::size_t size, Scalars s) {
  std::uint32_t largest = 0;
#pragma GCC ivdep
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint32_t bits = MagnitudeBits(grads[i]);
    largest = std::max(largest, bits);
    const float p = in[i];
    const float old = velocity[i];
    const float d = s.scale * grads[i] + s.weight_decay * p;
    const float v = s.momentum * old + d;
    velocity[i] = bits < kInfinityBits ? v : old;
    out[i] = bits < kInfinityBits ? p - s.rate * (d + s.momentum * v) : p;
  }
  return largest;
}

}  // namespace

Sgd::Sgd(const OptimizerOptions& options, std::size_t elements)
    : HostOptimizer(elements, options.momentum != 0 ? elements : 0), options_(options) {}

std::uint32_t Sgd::ApplyBlock(std::size_t offset, std::span<const float> in, std::span<float> out,
                              std::span<const float> grads, const Update& update) {
  const Scalars scalars{
      static_cast<float>(update.learning_rate), static_cast<float>(options_.momentum),
      static_cast<float>(options_.weight_decay), static_cast<float>(options_.gradient_scale)};
  if (options_.momentum == 0) {
    return Plain(in.data(), out.data(), grads.data(), in.size(), scalars);
  }
  float* velocity = state().data() + offset;
  const auto apply = options_.nesterov ? Nesterov : Momentum;
  return apply(in.data(), out.data(), grads.data(), velocity, in.size(), scalars);
}

}  // namespace ringside

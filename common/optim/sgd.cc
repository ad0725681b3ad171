// One pass over memory. A parameter costs 12 bytes of traffic (p and g in, p out), or 20 with
// momentum.
#include "ringside/common/optim/sgd.h"

#include "ringside/common/core/vector_clones.h"

namespace ringside {
namespace {

struct Scalars {
  float rate;
  float momentum;
  float weight_decay;
};

// `in` and `out` may be the same, so they cannot be restrict. ivdep tells the compiler that no
// iteration depends on another.
RINGSIDE_VECTOR_CLONES
void Plain(const float* in, float* out, const float* grads, std::size_t size, Scalars s) {
#pragma GCC ivdep
  for (std::size_t i = 0; i < size; ++i) {
    const float p = in[i];
    out[i] = p - s.rate * (grads[i] + s.weight_decay * p);
  }
}

RINGSIDE_VECTOR_CLONES
void Momentum(const float* in, float* out, const float* grads, float* velocity, std::size_t size,
              Scalars s) {
#pragma GCC ivdep
  for (std::size_t i = 0; i < size; ++i) {
    const float p = in[i];
    const float v = s.momentum * velocity[i] + (grads[i] + s.weight_decay * p);
    velocity[i] = v;
    out[i] = p - s.rate * v;
  }
}

RINGSIDE_VECTOR_CLONES
void Nesterov(const float* in, float* out, const float* grads, float* velocity, std::size_t size,
              Scalars s) {
#pragma GCC ivdep
  for (std::size_t i = 0; i < size; ++i) {
    const float p = in[i];
    const float d = grads[i] + s.weight_decay * p;
    const float v = s.momentum * velocity[i] + d;
    velocity[i] = v;
    out[i] = p - s.rate * (d + s.momentum * v);
  }
}

}  // namespace

Sgd::Sgd(const OptimizerOptions& options, std::size_t elements)
    : Optimizer(elements, options.momentum != 0 ? elements : 0), options_(options) {}

void Sgd::ApplyFinite(std::size_t offset, std::span<const float> in, std::span<float> out,
                      std::span<const float> grads, const Update& update) {
  const Scalars scalars{static_cast<float>(update.learning_rate),
                        static_cast<float>(options_.momentum),
                        static_cast<float>(options_.weight_decay)};
  if (options_.momentum == 0) {
    Plain(in.data(), out.data(), grads.data(), in.size(), scalars);
    return;
  }
  float* velocity = state().data() + offset;
  const auto apply = options_.nesterov ? Nesterov : Momentum;
  apply(in.data(), out.data(), grads.data(), velocity, in.size(), scalars);
}

}  // namespace ringside

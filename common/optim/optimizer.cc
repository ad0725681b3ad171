#include "ringside/common/optim/optimizer.h"

#include <string>

#include "ringside/common/base/errors.h"
#include "ringside/common/optim/adam.h"
#include "ringside/common/optim/sgd.h"

namespace ringside {
namespace {

void Require(bool condition, const std::string& what) {
  if (!condition) throw ConfigError("optimizer: " + what);
}

}  // namespace

void CheckOptimizerOptions(const OptimizerOptions& options) {
  // The conditions are written so that NaN fails too.
  Require(options.momentum >= 0 && options.momentum < 1, "momentum must be in [0, 1)");
  Require(!options.nesterov || options.momentum > 0, "nesterov needs a momentum above 0");
  Require(options.weight_decay >= 0, "weight decay must not be negative");
  Require(options.beta1 >= 0 && options.beta1 < 1, "beta1 must be in [0, 1)");
  Require(options.beta2 >= 0 && options.beta2 < 1, "beta2 must be in [0, 1)");
  Require(options.epsilon >= 0, "epsilon must not be negative");
  Require(options.gradient_scale > 0, "the scale of gradients must be above 0");
}

namespace {

void CheckSpans(std::size_t elements, std::size_t offset, std::span<const float> in,
                std::span<float> out, std::span<const float> grads) {
  const std::size_t size = in.size();
  if (out.size() == size && grads.size() == size && offset <= elements &&
      size <= elements - offset) {
    return;
  }
  throw InternalError("optimizer of " + std::to_string(elements) + " parameters applied at " +
                      std::to_string(offset) + " to spans of " + std::to_string(size) + ", " +
                      std::to_string(out.size()) + " and " + std::to_string(grads.size()));
}

}  // namespace

std::unique_ptr<Optimizer> Optimizer::Make(const OptimizerOptions& options, std::size_t elements) {
  CheckOptimizerOptions(options);
  switch (options.kind) {
    case OptimizerOptions::Kind::kSgd:
      return std::make_unique<Sgd>(options, elements);
    case OptimizerOptions::Kind::kAdam:
    case OptimizerOptions::Kind::kAdamW:
      return std::make_unique<Adam>(options, elements);
  }
  throw InternalError("optimizer kind out of range");
}

void Optimizer::Apply(std::size_t offset, std::span<const float> in, std::span<float> out,
                      std::span<const float> grads, const Update& update) {
  CheckSpans(elements_, offset, in, out, grads);
  ApplySpan(offset, in, out, grads, update);
}

}  // namespace ringside

#include "ringside/common/optim/optimizer.h"

#include <string>

#include "ringside/common/core/errors.h"
#include "ringside/common/optim/adam.h"
#include "ringside/common/optim/sgd.h"

namespace ringside {
namespace {

void Require(bool condition, const std::string& what) {
  if (!condition) throw ConfigError("optimizer: " + what);
}

void Check(const OptimizerOptions& options) {
  // The conditions are written so that NaN fails too.
  Require(options.momentum >= 0 && options.momentum < 1, "momentum must be in [0, 1)");
  Require(!options.nesterov || options.momentum > 0, "nesterov needs a momentum above 0");
  Require(options.weight_decay >= 0, "weight decay must not be negative");
  Require(options.beta1 >= 0 && options.beta1 < 1, "beta1 must be in [0, 1)");
  Require(options.beta2 >= 0 && options.beta2 < 1, "beta2 must be in [0, 1)");
  Require(options.epsilon >= 0, "epsilon must not be negative");
}

}  // namespace

std::unique_ptr<Optimizer> Optimizer::Make(const OptimizerOptions& options, std::size_t elements) {
  Check(options);
  switch (options.kind) {
    case OptimizerOptions::Kind::kSgd:
      return std::make_unique<Sgd>(options, elements);
    case OptimizerOptions::Kind::kAdam:
    case OptimizerOptions::Kind::kAdamW:
      return std::make_unique<Adam>(options, elements);
  }
  throw InternalError("optimizer kind out of range");
}

}  // namespace ringside

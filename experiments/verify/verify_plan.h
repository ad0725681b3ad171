#ifndef RINGSIDE_EXPERIMENTS_VERIFY_VERIFY_PLAN_H_
#define RINGSIDE_EXPERIMENTS_VERIFY_VERIFY_PLAN_H_

#include <string>
#include <vector>

#include "experiments/run_spec.h"

namespace ringside {

enum class Repeats {
  kNone,
  kOnePerStrategy,  ///< The configuration with the most workers and servers.
  kAll,
};

/// What to compare, as the caller wants it.
struct VerifyRequest {
  RunSpec base;  ///< Model, data, steps, batch, SGD's settings.
  std::vector<std::string> strategies;
  std::vector<int> workers;
  std::vector<int> servers;  ///< For strategies that have servers.
  std::vector<std::string> optimizers;
  double adam_learning_rate = 1e-3;  ///< Of adam and adamw.
  double sgd_limit = 1e-5;           ///< Of the relative difference.
  double adam_limit = 1e-4;
  Repeats repeats = Repeats::kOnePerStrategy;
};

/// One configuration to hold against the reference.
struct VerifyCheck {
  RunSpec spec;  ///< Resolved.
  std::string label;
  bool repeat = false;  ///< Run it twice and compare the bits.
};

/// One optimizer: the single worker with the whole batch, and all that must follow it.
struct VerifyGroup {
  std::string optimizer;
  double limit = 0;
  RunSpec reference;  ///< Resolved.
  std::vector<VerifyCheck> checks;
};

/// The strategies of this build that promise the trajectory of a single worker.
std::vector<std::string> SynchronousStrategies();

/// Pure. Throws `SpecKeyError`: unknown or asynchronous strategies, what `Resolve` refuses.
std::vector<VerifyGroup> PlanVerification(const VerifyRequest& request);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_VERIFY_VERIFY_PLAN_H_

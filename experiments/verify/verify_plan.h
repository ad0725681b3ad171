#ifndef RINGSIDE_EXPERIMENTS_VERIFY_VERIFY_PLAN_H_
#define RINGSIDE_EXPERIMENTS_VERIFY_VERIFY_PLAN_H_

#include <string>
#include <vector>

#include "ringside/experiments/spec/resolve/resolve.h"
#include "ringside/experiments/spec/run_spec.h"

namespace ringside {

enum class RepeatPolicy {
  kNone,
  kOnePerStrategy,  ///< The configuration with the most workers and servers.
  kAll,
};

/// The caller's choice of what to compare.
struct VerifyRequest {
  /// Model, data, steps, batch, settings of SGD. A program has its own optimizer instead of those
  /// below, and the limit of SGD.
  RunSpec base;
  std::vector<std::string> strategies;
  std::vector<int> workers;
  std::vector<int> servers;  ///< For strategies that have servers.
  std::vector<std::string> optimizers;
  double adam_learning_rate = 1e-3;  ///< For adam and adamw.
  double sgd_limit = 1e-5;           ///< Limit of the relative difference.
  double adam_limit = 1e-4;
  RepeatPolicy repeats = RepeatPolicy::kOnePerStrategy;
  RunsOn where = RunsOn::kThisMachine;
};

/// One configuration to compare with the reference.
struct VerifyCheck {
  RunSpec spec;  ///< Resolved.
  std::string label;
  bool repeat = false;  ///< Run it twice and compare the bits.
};

/// One optimizer: a reference run with one worker and the whole batch, and the runs to compare.
struct VerifyGroup {
  std::string optimizer;
  double limit = 0;
  RunSpec reference;  ///< Resolved.
  std::vector<VerifyCheck> checks;
};

/// The strategies of the catalog that promise the same parameters, step by step, as a single
/// worker.
std::vector<std::string> SynchronousStrategies(const Catalog& catalog);

/// Pure. Throws `SpecKeyError` for an unknown or asynchronous strategy, or where `Resolve` does.
std::vector<VerifyGroup> PlanVerification(const VerifyRequest& request);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_VERIFY_VERIFY_PLAN_H_

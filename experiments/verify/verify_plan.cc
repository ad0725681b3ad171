#include "ringside/experiments/verify/verify_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "ringside/common/strategy/none_strategy.h"
#include "ringside/experiments/spec/catalog.h"
#include "ringside/experiments/text/did_you_mean.h"

namespace ringside {
namespace {

const StrategyEntry& SynchronousEntry(const std::string& name, const Catalog& catalog) {
  const std::vector<std::string> known = SynchronousStrategies(catalog);
  if (std::ranges::find(known, name) != known.end()) return *catalog.FindStrategy(name);
  if (catalog.FindStrategy(name) != nullptr) {
    throw SpecKeyError(
        "strategies", fmt::format("'{}' does not promise what a single worker computes; those that "
                                  "do are {}",
                                  name, fmt::join(known, ", ")));
  }
  const std::vector<std::string_view> names(known.begin(), known.end());
  throw SpecKeyError("strategies", fmt::format("no strategy is called '{}'{}; there are {}", name,
                                               DidYouMean(name, names), fmt::join(known, ", ")));
}

/// Of a program, which has its own optimizer.
constexpr const char* kOwnOptimizer = "own";

RunSpec WithOptimizer(const VerifyRequest& request, const std::string& optimizer) {
  RunSpec spec = request.base;
  if (optimizer == kOwnOptimizer) {
    spec.optimizer = {};
    spec.learning_rate = RunSpec().learning_rate;
  } else {
    SetSpecKey(spec, "optimizer", optimizer);
  }
  if (spec.optimizer.kind != OptimizerOptions::Kind::kSgd) {
    spec.optimizer.momentum = 0;
    spec.optimizer.nesterov = false;
    spec.learning_rate = request.adam_learning_rate;
  }
  spec.save_params = true;
  spec.timeline = false;
  spec.timeline_steps = {};
  spec.timeline_filename.clear();
  return spec;
}

void AddChecks(const VerifyRequest& request, const std::string& strategy, VerifyGroup& group) {
  const StrategyEntry& entry = SynchronousEntry(strategy, request.base.catalog());
  const std::vector<int> none{0};
  const std::vector<int>& servers = entry.traits.has_servers() ? request.servers : none;
  for (const int workers : request.workers) {
    for (const int count : servers) {
      VerifyCheck check;
      check.spec = group.reference;
      check.spec.strategy = strategy;
      check.spec.workers = workers;
      check.spec.servers = count;
      check.spec.hosts = request.base.hosts;
      check.spec.network = request.base.network;
      check.spec.dilation = request.base.dilation;
      check.spec = Resolve(check.spec, request.where);
      check.label = fmt::format("{} {} workers={}", group.optimizer, strategy, workers);
      if (count > 0) check.label += fmt::format(" servers={}", count);
      check.repeat = entry.traits.repeatable && request.repeats == RepeatPolicy::kAll;
      group.checks.push_back(std::move(check));
    }
  }
  if (request.repeats == RepeatPolicy::kOnePerStrategy)
    group.checks.back().repeat = entry.traits.repeatable;
}

}  // namespace

std::vector<std::string> SynchronousStrategies(const Catalog& catalog) {
  std::vector<std::string> names;
  for (const StrategyEntry& entry : catalog.strategies()) {
    if (entry.traits.synchronous()) names.push_back(entry.name);
  }
  return names;
}

std::vector<VerifyGroup> PlanVerification(const VerifyRequest& request) {
  std::vector<VerifyGroup> groups;
  const bool program = !request.base.program.empty();
  for (const std::string& optimizer :
       program ? std::vector<std::string>{kOwnOptimizer} : request.optimizers) {
    VerifyGroup group;
    group.optimizer = optimizer;
    group.reference = WithOptimizer(request, optimizer);
    const bool sgd = group.reference.optimizer.kind == OptimizerOptions::Kind::kSgd;
    group.limit = sgd ? request.sgd_limit : request.adam_limit;
    group.reference.strategy = kNoneEntry.name;
    group.reference.workers = 1;
    group.reference.servers = 0;
    group.reference.hosts = 0;
    group.reference.network.reset();
    group.reference.dilation = {};
    group.reference = Resolve(group.reference, request.where);
    for (const std::string& strategy : request.strategies) AddChecks(request, strategy, group);
    groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace ringside

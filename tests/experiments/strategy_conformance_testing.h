#ifndef RINGSIDE_TESTS_EXPERIMENTS_STRATEGY_CONFORMANCE_TESTING_H_
#define RINGSIDE_TESTS_EXPERIMENTS_STRATEGY_CONFORMANCE_TESTING_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <functional>
#include <iterator>
#include <memory>
#include <numeric>
#include <optional>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "ringside/experiments/spec/server_layout.h"
#include "ringside/ring/strategies/diloco.h"
#include "tests/common/thread_ranks.h"
#include "tests/experiments/test_catalog.h"

namespace ringside::conformance {

inline constexpr float kLearningRate = 0.25F;
inline constexpr std::int64_t kSteps = 3;

/// No strategy may lose a gradient.
inline StrategyOptions LosingNothing(const StrategyEntry& entry) {
  const StrategyOptions options = StrategyOptions().OnlyDeclared(entry.name, entry.options);
  return entry.losing_nothing == nullptr ? options : entry.losing_nothing(options);
}

inline float InitialOf(int rank, std::size_t i) {
  return static_cast<float>(i % 11) + 50.0F * rank;
}

inline float GradientOf(int rank, std::int64_t step, std::size_t i) {
  return static_cast<float>((rank + 1) * (step + 1) * static_cast<std::int64_t>(i % 5));
}

/// True when workers step alone, average now and then, and end with the mean of their parameters.
inline bool Averages(const StrategyEntry& entry) {
  return entry.traits.agreement == Agreement::kPeriodic;
}

/// The parameters that a rank must end with.
inline float ExpectedOf(const StrategyEntry& entry, int rank, int workers, std::size_t i) {
  const bool alone = entry.traits.agreement == Agreement::kNone;
  float value = InitialOf(alone ? rank : 0, i);
  const float share = Averages(entry) ? 1.0F / static_cast<float>(workers) : 1.0F;
  for (std::int64_t step = 0; step < kSteps; ++step) {
    for (int each = 0; each < workers; ++each) {
      if (!alone || each == rank) value -= share * kLearningRate * GradientOf(each, step, i);
    }
  }
  return value;
}

/// A mean over workers is exact where their number is a power of two.
inline float ToleranceOf(const StrategyEntry& entry, int workers) {
  const bool exact = !Averages(entry) || std::has_single_bit(static_cast<unsigned>(workers));
  return exact ? 0 : 1e-4F;
}

struct Setting {
  const StrategyEntry* entry = nullptr;
  int workers = 1;
  int servers = 0;  ///< As a spec asks for them.
  StrategyOptions options = {};
  std::string variant = {};  ///< What `options` are, for names.
  bool caller_updates = false;
};

inline void PrintTo(const Setting& setting, std::ostream* out) {
  *out << setting.entry->name << ", " << setting.workers << " workers, " << setting.servers
       << " servers " << setting.variant;
}

inline std::string NameOf(const testing::TestParamInfo<Setting>& info) {
  std::string name(info.param.entry->name);
  std::ranges::replace(name, '-', '_');
  name += "_" + std::to_string(info.param.workers);
  if (info.param.servers > 0) name += "_" + std::to_string(info.param.servers);
  return info.param.variant.empty() ? name : name + "_" + info.param.variant;
}

/// The data that all processes of one job use.
struct Job {
  /// The options are final: servers read them on threads of their own from here on.
  explicit Job(const Setting& setting, OptimizerOptions optimizer_options = {},
               std::chrono::milliseconds timeout = std::chrono::seconds(5))
      : entry(*setting.entry),
        workers(setting.workers),
        layout(LayoutServers(entry, workers, setting.servers, false)),
        optimizer(optimizer_options),
        options(setting.options),
        caller_updates(setting.caller_updates),
        comm{.address = "127.0.0.1", .token = "secret", .timeout = timeout} {
    for (int index = 0; index < layout.total(); ++index) {
      serving.push_back(MakeServer(entry, {index, layout.total(), workers, store, comm, optimizer,
                                           schedule, timeline, options}));
    }
  }

  const StrategyEntry& entry;
  int workers;
  ServerLayout layout;
  OptimizerOptions optimizer;
  StrategyOptions options;
  bool caller_updates;
  InProcessStore store;
  CommOptions comm;
  Schedule schedule{ScheduleOptions{.base = kLearningRate}};
  Timeline timeline;
  std::vector<std::unique_ptr<Server>> serving;
};

inline BucketPlan PlanOf(std::size_t elements) {
  const std::vector<TensorSpec> tensors{{"a", elements / 3}, {"b", elements - elements / 3}};
  return {tensors, {.target_bytes = 64 << 10, .first_bytes = 1024}};
}

inline World WorldOf(const Job& job, int rank) {
  World world = TestWorld(rank, job.workers, job.layout.total());
  world.colocated_servers = job.layout.colocated;
  return world;
}

/// In memory of the kind that the strategy prefers.
inline FlatSpace SpaceOf(const StrategyEntry& entry, std::size_t elements) {
  if (entry.traits.memory == MemoryKind::kOrdinary) return FlatSpace(elements);
  return {elements, "conformance"};
}

/// One worker of a job and what it drives its strategy with.
class Worker {
 public:
  Worker(Job& job, int rank, std::size_t elements)
      : job_(job),
        world_(WorldOf(job, rank)),
        plan_(PlanOf(elements)),
        space_(SpaceOf(job.entry, elements)),
        optimizer_(Optimizer::Make(job.optimizer, elements)),
        strategy_(
            MakeStrategy(job.entry, {world_, job.store, job.comm, *optimizer_, job.schedule,
                                     recorder_, job.timeline, job.options, job.caller_updates})) {
    for (std::size_t i = 0; i < elements; ++i) space_.params()[i] = InitialOf(rank, i);
  }

  void Start(const StartPoint& from = {}) { strategy_->Start(space_, plan_, from); }

  /// `first_gradient` is that of the first parameter, instead of `GradientOf`.
  void Step(std::int64_t step, std::optional<float> first_gradient = std::nullopt) {
    AwaitAll(step);
    for (std::size_t i = 0; i < space_.size(); ++i) {
      space_.grads()[i] = GradientOf(world_.rank, step, i);
    }
    if (first_gradient) space_.grads()[0] = *first_gradient;
    std::vector<int> order(static_cast<std::size_t>(plan_.buckets()));
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(),
                 std::mt19937(static_cast<unsigned>(std::int64_t{world_.rank} * 100 + step)));
    for (const int bucket : order) strategy_->Submit(MakeBucket(space_, plan_, bucket, step));
  }

  void AwaitAll(std::int64_t step) {
    for (int b = 0; b < plan_.buckets(); ++b) strategy_->Await(MakeBucket(space_, plan_, b, step));
  }

  /// All ranks have awaited their last bucket, then all settle.
  void Settle(std::int64_t steps) {
    AwaitAll(steps);
    StoreAllGather(job_.store, world_, "awaited", "", Deadline::After(job_.comm.timeout));
    strategy_->Settle();
  }

  /// What `strategy().Start` gets in `Start`.
  void StartAgain() { strategy_->Start(space_, plan_, {}); }
  Bucket BucketOf(int index, std::int64_t step) const {
    return MakeBucket(space_, plan_, index, step);
  }
  int buckets() const { return plan_.buckets(); }

  /// Without `Stop`. Then nothing else uses `space`.
  void DropStrategy() { strategy_.reset(); }

  Strategy& strategy() { return *strategy_; }
  Optimizer& optimizer() { return *optimizer_; }
  const FlatSpace& space() const { return space_; }
  const Recorder& recorder() const { return recorder_; }

 private:
  Job& job_;
  World world_;
  BucketPlan plan_;
  FlatSpace space_;
  std::unique_ptr<Optimizer> optimizer_;
  Recorder recorder_{16};
  std::unique_ptr<Strategy> strategy_;
};

class StrategyConformanceTest : public testing::TestWithParam<Setting> {
 protected:
  const StrategyEntry& entry() const { return *GetParam().entry; }
  int workers() const { return GetParam().workers; }

  void CheckTrajectory(std::size_t elements) {
    SCOPED_TRACE(std::to_string(elements) + " elements");
    Job job(GetParam());
    RunRanks(workers(), [&](int rank) {
      Worker worker(job, rank, elements);
      worker.Start();
      for (std::int64_t step = 0; step < kSteps; ++step) worker.Step(step);
      worker.Settle(kSteps);
      for (std::size_t i = 0; i < elements; ++i) {
        ASSERT_NEAR(worker.space().params()[i], ExpectedOf(entry(), rank, workers(), i),
                    ToleranceOf(entry(), workers()))
            << "rank " << rank << ", element " << i;
      }
      worker.strategy().Stop();
    });
  }
};

/// The setting with each value of the options that a strategy reads. All must end with the same
/// parameters.
inline std::vector<Setting> VariantsOf(const Setting& plain) {
  std::vector<Setting> variants{plain};
  if (plain.entry->Declares(kScheduleOption.name)) {
    Setting priority = plain;
    priority.variant = "priority";
    priority.options.order = SendOrder::kPriority;
    variants.push_back(priority);
  }
  if (plain.entry->Declares(kSyncEvery.name)) {
    Setting always = plain;
    always.variant = "every_step";
    always.options.Set(kSyncEvery, 1);
    if (plain.entry->Declares(kOuterLr.name)) {
      always.options.Set(kOuterLr, 1);
      always.options.Set(kOuterMomentum, 0);
    }
    variants.push_back(always);
  }
  return variants;
}

/// Every strategy that threads can run, in worlds of several sizes, where `wanted` says so.
inline std::vector<Setting> Settings(const std::function<bool(const Setting&)>& wanted) {
  std::vector<Setting> settings;
  for (const StrategyEntry& entry : TestCatalog().strategies()) {
    if (entry.traits.ranks != Ranks::kAnywhere) continue;  // process_conformance_test has them
    for (const int workers : {1, 2, 3, 4, 7}) {
      std::vector<int> servers{1, 2};
      if (!entry.traits.has_servers()) servers = {0};
      for (const int count : servers) {
        std::ranges::copy(VariantsOf({&entry, workers, count, LosingNothing(entry)}),
                          std::back_inserter(settings));
      }
    }
  }
  std::erase_if(settings, std::not_fn(wanted));
  return settings;
}

}  // namespace ringside::conformance

#endif  // RINGSIDE_TESTS_EXPERIMENTS_STRATEGY_CONFORMANCE_TESTING_H_

// Tests the promises of every strategy, with threads as ranks and servers in this process:
// integer-valued gradients and a learning rate that is a power of two make every sum exact.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <chrono>
#include <functional>
#include <iterator>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "ringside/common/core/errors.h"
#include "ringside/experiments/spec/server_layout.h"
#include "ringside/ring/strategies/diloco.h"
#include "tests/common/thread_ranks.h"
#include "tests/experiments/test_catalog.h"

namespace ringside {
namespace {

using namespace std::chrono_literals;

constexpr float kLearningRate = 0.25F;
constexpr std::int64_t kSteps = 3;

/// No strategy may lose a gradient.
StrategyOptions LosingNothing(const StrategyEntry& entry) {
  const StrategyOptions options = StrategyOptions().OnlyDeclared(entry.name, entry.options);
  return entry.losing_nothing == nullptr ? options : entry.losing_nothing(options);
}

float InitialOf(int rank, std::size_t i) { return static_cast<float>(i % 11) + 50.0F * rank; }

float GradientOf(int rank, std::int64_t step, std::size_t i) {
  return static_cast<float>((rank + 1) * (step + 1) * static_cast<std::int64_t>(i % 5));
}

/// True when workers step alone, average now and then, and end with the mean of their parameters.
bool Meets(const StrategyEntry& entry) { return entry.traits.agreement == Agreement::kPeriodic; }

/// The parameters that a rank must end with.
float ExpectedOf(const StrategyEntry& entry, int rank, int workers, std::size_t i) {
  const bool alone = entry.traits.agreement == Agreement::kNone;
  float value = InitialOf(alone ? rank : 0, i);
  const float share = Meets(entry) ? 1.0F / static_cast<float>(workers) : 1.0F;
  for (std::int64_t step = 0; step < kSteps; ++step) {
    for (int each = 0; each < workers; ++each) {
      if (!alone || each == rank) value -= share * kLearningRate * GradientOf(each, step, i);
    }
  }
  return value;
}

/// A mean over workers is exact where their number is a power of two.
float ToleranceOf(const StrategyEntry& entry, int workers) {
  const bool exact = !Meets(entry) || std::has_single_bit(static_cast<unsigned>(workers));
  return exact ? 0 : 1e-4F;
}

struct Setting {
  const StrategyEntry* entry = nullptr;
  int workers = 1;
  int servers = 0;  ///< As a spec asks for them.
  StrategyOptions options = {};
  std::string variant = {};  ///< What `options` are, for names.
};

void PrintTo(const Setting& setting, std::ostream* out) {
  *out << setting.entry->name << ", " << setting.workers << " workers, " << setting.servers
       << " servers " << setting.variant;
}

std::string NameOf(const testing::TestParamInfo<Setting>& info) {
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
               std::chrono::milliseconds timeout = 5s)
      : entry(*setting.entry),
        workers(setting.workers),
        layout(LayoutServers(entry, workers, setting.servers, false)),
        optimizer(optimizer_options),
        options(setting.options),
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
  InProcessStore store;
  CommOptions comm;
  Schedule schedule{ScheduleOptions{.base = kLearningRate}};
  Timeline timeline;
  std::vector<std::unique_ptr<Server>> serving;
};

BucketPlan PlanOf(std::size_t elements) {
  const std::vector<TensorSpec> tensors{{"a", elements / 3}, {"b", elements - elements / 3}};
  return {tensors, {.target_bytes = 64 << 10, .first_bytes = 1024}};
}

World WorldOf(const Job& job, int rank) {
  World world = TestWorld(rank, job.workers, job.layout.total());
  world.colocated_servers = job.layout.colocated;
  return world;
}

/// In memory of the kind that the strategy prefers.
FlatSpace SpaceOf(const StrategyEntry& entry, std::size_t elements) {
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
        strategy_(MakeStrategy(job.entry, {world_, job.store, job.comm, *optimizer_, job.schedule,
                                           recorder_, job.timeline, job.options})) {
    for (std::size_t i = 0; i < elements; ++i) space_.params()[i] = InitialOf(rank, i);
  }

  void Start(const StartPoint& from = {}) { strategy_->Start(space_, plan_, from); }

  void Step(std::int64_t step) {
    AwaitAll(step);
    for (std::size_t i = 0; i < space_.size(); ++i) {
      space_.grads()[i] = GradientOf(world_.rank, step, i);
    }
    std::vector<int> order(static_cast<std::size_t>(plan_.buckets()));
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(),
                 std::mt19937(static_cast<unsigned>(world_.rank * 100 + step)));
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

TEST_P(StrategyConformanceTest, EndsWithTheExactSumOfAllUpdates) {
  const auto n = static_cast<std::size_t>(workers());
  for (const std::size_t elements : {std::size_t{0}, std::size_t{1}, n - 1, n, n + 1}) {
    CheckTrajectory(elements);
  }
}

TEST_P(StrategyConformanceTest, EndsWithTheExactSumOfAllUpdatesOverManyBuckets) {
  CheckTrajectory(100'000);
}

/// Strategies whose optimizer state does not depend on the order in which updates arrive.
class SynchronousStrategyTest : public StrategyConformanceTest {};

TEST_P(SynchronousStrategyTest, RestoresAndReadsTheOptimizerState) {
  constexpr std::size_t kElements = 1000;
  Job job(GetParam(), {.momentum = 0.5});
  RunRanks(workers(), [&](int rank) {
    Worker worker(job, rank, kElements);
    std::vector<float> state(worker.optimizer().state_size(), 8.0F);
    worker.Start({.step = 4, .optimizer_state = state});
    worker.Step(4);
    worker.Settle(5);
    if (rank == 0) {
      worker.strategy().ReadOptimizerState(state);
      for (std::size_t i = 0; i < kElements; ++i) {
        float expected = 4;
        for (int each = 0; each < workers(); ++each) expected += GradientOf(each, 4, i);
        ASSERT_EQ(state[i], expected) << i;
      }
    }
    worker.strategy().Stop();
  });
}

/// The text of the `InternalError` that refuses a call against the contract.
std::string RefusalOf(const std::function<void()>& call) {
  try {
    call();
  } catch (const InternalError& error) {
    return error.what();
  } catch (const std::exception& error) {
    return std::string("no InternalError, but: ") + error.what();
  }
  return "no error";
}

/// All entries, with calls that the contract forbids.
class MisuseTest : public StrategyConformanceTest {
 protected:
  static void ExpectAllAreRefused(Worker& worker, const std::string& when) {
    using testing::HasSubstr;
    Strategy& strategy = worker.strategy();
    const Bucket bucket = worker.BucketOf(1, 4);
    const auto named = testing::AllOf(HasSubstr("bucket 1, step 4"), HasSubstr(when));
    std::vector<float> state(worker.optimizer().state_size());
    EXPECT_THAT(RefusalOf([&] { strategy.Submit(bucket); }), named);
    EXPECT_THAT(RefusalOf([&] { strategy.Await(bucket); }), named);
    EXPECT_THAT(RefusalOf([&] { strategy.Settle(); }), HasSubstr(when));
    EXPECT_THAT(RefusalOf([&] { strategy.ReadOptimizerState(state); }), HasSubstr(when));
    EXPECT_THAT(RefusalOf([&] { strategy.Stop(); }), HasSubstr(when));
  }

  static std::vector<Bucket> WrongBuckets(const Worker& worker, const FlatSpace& foreign) {
    const Bucket right = worker.BucketOf(1, 4);
    std::vector<Bucket> wrong(7, right);
    wrong[0].index = -1;
    wrong[1].index = worker.buckets();
    wrong[2].index = 0;
    wrong[3].offset += 1;
    wrong[4].grads = right.grads.first(right.grads.size() - 1);
    wrong[5].params = foreign.params().subspan(right.offset, right.params.size());
    wrong[6].grads = right.params;
    return wrong;
  }
};

TEST_P(MisuseTest, IsRefusedByTheBucketsNameAndChangesNothing) {
  using testing::HasSubstr;
  constexpr std::size_t kElements = 1000;
  Job job(GetParam());
  RunRanks(workers(), [&](int rank) {
    Worker worker(job, rank, kElements);
    Strategy& strategy = worker.strategy();
    ASSERT_GT(worker.buckets(), 1);
    ExpectAllAreRefused(worker, "before the start");
    worker.Start();
    EXPECT_THAT(RefusalOf([&] { worker.StartAgain(); }), HasSubstr("twice"));
    const FlatSpace foreign(kElements);
    for (const Bucket& wrong : WrongBuckets(worker, foreign)) {
      const auto named = HasSubstr("bucket " + std::to_string(wrong.index) + ", step 4");
      EXPECT_THAT(RefusalOf([&] { strategy.Submit(wrong); }), named);
      EXPECT_THAT(RefusalOf([&] { strategy.Await(wrong); }), named);
    }
    for (std::int64_t step = 0; step < kSteps; ++step) {
      worker.Step(step);
      for (int index = 0; index < worker.buckets(); ++index) {
        const std::string name = "bucket " + std::to_string(index) + ", step ";
        EXPECT_THAT(RefusalOf([&] { strategy.Submit(worker.BucketOf(index, step)); }),
                    testing::AllOf(HasSubstr(name + std::to_string(step)), HasSubstr("already")));
      }
      EXPECT_THAT(RefusalOf([&] { strategy.Settle(); }),
                  HasSubstr("bucket 0, step " + std::to_string(step)));
    }
    worker.Settle(kSteps);
    for (std::size_t i = 0; i < kElements; ++i) {
      ASSERT_NEAR(worker.space().params()[i], ExpectedOf(entry(), rank, workers(), i),
                  ToleranceOf(entry(), workers()))
          << "rank " << rank << ", element " << i;
    }
    strategy.Stop();
    ExpectAllAreRefused(worker, "after the stop");
  });
}

CommError CommErrorOf(const std::exception_ptr& failure) {
  try {
    if (failure != nullptr) std::rethrow_exception(failure);
  } catch (const CommError& error) {
    return error;
  }
  ADD_FAILURE() << "no CommError was thrown";
  return {"nobody", "nothing", "none"};
}

/// Several workers, of any consistency, who start together.
class StartTogetherTest : public StrategyConformanceTest {};

TEST_P(StartTogetherTest, NamesTheWorkerWhoseBucketPlanDiffers) {
  Job job(GetParam());
  const RankOutcomes outcomes = TryRanks(workers(), [&](int rank) {
    Worker worker(job, rank, rank == 1 ? 999 : 1000);
    worker.Start();
  });
  for (const std::exception_ptr& failure : outcomes.by_rank) {
    const CommError error = CommErrorOf(failure);
    EXPECT_EQ(error.peer(), "worker 1") << error.what();
    EXPECT_THAT(error.what(), testing::HasSubstr("999"));
    EXPECT_THAT(error.what(), testing::HasSubstr("1000"));
  }
}

TEST_P(StartTogetherTest, NamesTheWorkersThatStartAtAnotherStep) {
  Job job(GetParam());
  const RankOutcomes outcomes = TryRanks(workers(), [&](int rank) {
    Worker worker(job, rank, 1000);
    worker.Start({.step = rank == 0 ? 4 : 6});
  });
  for (const std::exception_ptr& failure : outcomes.by_rank) {
    const CommError error = CommErrorOf(failure);
    EXPECT_EQ(error.peer(), workers() == 2 ? "worker 1" : "workers 1, 2") << error.what();
    EXPECT_THAT(error.what(), testing::HasSubstr("step 6, worker 0 has step 4"));
  }
}

/// Several workers that wait for each other.
class WaitingStrategyTest : public StrategyConformanceTest {};

/// Throws what `steps` throw. Before that it makes every other call, right and wrong ones.
void ExpectTheSameFromAllCalls(Worker& worker, const std::function<void()>& steps) {
  const auto text_of = [](const std::function<void()>& call) -> std::string {
    try {
      call();
    } catch (const CommError& error) {
      return error.what();
    } catch (const std::exception& error) {
      return std::string("no CommError, but: ") + error.what();
    }
    return "no error";
  };
  try {
    steps();
  } catch (const CommError& error) {
    Strategy& strategy = worker.strategy();
    Bucket wrong = worker.BucketOf(1, 1);
    wrong.index = worker.buckets();
    std::vector<float> state(worker.optimizer().state_size());
    EXPECT_EQ(text_of([&] { strategy.Submit(worker.BucketOf(1, 1)); }), error.what());
    EXPECT_EQ(text_of([&] { strategy.Submit(wrong); }), error.what());
    EXPECT_EQ(text_of([&] { strategy.Await(worker.BucketOf(1, 1)); }), error.what());
    EXPECT_EQ(text_of([&] { strategy.Await(wrong); }), error.what());
    EXPECT_EQ(text_of([&] { strategy.Settle(); }), error.what());
    EXPECT_EQ(text_of([&] { strategy.ReadOptimizerState(state); }), error.what());
    EXPECT_EQ(text_of([&] { worker.StartAgain(); }), error.what());
    EXPECT_EQ(text_of([&] { strategy.Stop(); }), error.what());
    throw;
  }
}

TEST_P(WaitingStrategyTest, DestructionWithoutStopEndsAndFailsThePeers) {
  Job job(GetParam(), {}, 2s);  // a server cannot tell a worker that left from a slow one before
  const auto outcomes = TryRanks(workers(), [&](int rank) {
    Worker worker(job, rank, 1000);
    worker.Start();
    worker.Step(0);
    worker.AwaitAll(1);
    if (rank == 0) return;
    ExpectTheSameFromAllCalls(worker, [&] {
      worker.Step(1);
      worker.AwaitAll(2);
    });
  });
  EXPECT_EQ(outcomes.failures(), workers() - 1);
  for (const auto& failure : outcomes.by_rank) {
    if (failure == nullptr) continue;
    EXPECT_THROW(std::rethrow_exception(failure), CommError);
  }
}

/// Several workers.
class SubmitTest : public StrategyConformanceTest {};

// Rank 0 submits a whole step before any other rank submits a bucket of it: they begin when it has
// told them that all its submits have returned.
TEST_P(SubmitTest, NeverWaitsForAnotherRank) {
  Job job(GetParam());
  RunRanks(workers(), [&](int rank) {
    Worker worker(job, rank, 100'000);
    worker.Start();
    for (std::int64_t step = 0; step < kSteps; ++step) {
      const std::string told = "submitted " + std::to_string(step);
      worker.AwaitAll(step);
      if (rank != 0) job.store.Get(told, Deadline::After(job.comm.timeout));
      worker.Step(step);
      if (rank == 0) job.store.Set(told, "");
    }
    worker.Settle(kSteps);
    worker.strategy().Stop();
  });
}

/// The setting with each value of the options that a strategy reads. All must end with the same
/// parameters.
std::vector<Setting> VariantsOf(const Setting& plain) {
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

std::vector<Setting> Settings(const std::function<bool(const Setting&)>& wanted) {
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

bool Any(const Setting&) { return true; }
bool IsSynchronous(const Setting& setting) { return setting.entry->traits.synchronous(); }
bool StartTogether(const Setting& setting) {
  return setting.entry->traits.family != Family::kNone &&
         (setting.workers == 2 || setting.workers == 3);
}
bool IsAPair(const Setting& setting) { return setting.workers == 2 && setting.servers < 2; }
bool HasPeers(const Setting& setting) { return setting.workers > 1; }
bool Waits(const Setting& setting) { return IsSynchronous(setting) && setting.workers > 1; }

INSTANTIATE_TEST_SUITE_P(Table, StrategyConformanceTest, testing::ValuesIn(Settings(Any)), NameOf);
INSTANTIATE_TEST_SUITE_P(Table, SynchronousStrategyTest, testing::ValuesIn(Settings(IsSynchronous)),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(Table, StartTogetherTest, testing::ValuesIn(Settings(StartTogether)),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(Table, MisuseTest, testing::ValuesIn(Settings(IsAPair)), NameOf);
INSTANTIATE_TEST_SUITE_P(Table, SubmitTest, testing::ValuesIn(Settings(HasPeers)), NameOf);
INSTANTIATE_TEST_SUITE_P(Table, WaitingStrategyTest, testing::ValuesIn(Settings(Waits)), NameOf);

TEST(CatalogTest, EveryStrategyIsFoundAndTellsWhatItIs) {
  for (const StrategyEntry& entry : TestCatalog().strategies()) {
    EXPECT_EQ(TestCatalog().FindStrategy(entry.name), &entry);
    EXPECT_FALSE(entry.summary.empty()) << entry.name;
    EXPECT_NE(entry.bound, nullptr) << entry.name;
    EXPECT_EQ(entry.traits.topology == Topology::kNone, entry.transport == nullptr) << entry.name;
    EXPECT_EQ(entry.traits.topology == Topology::kServers, entry.traits.has_servers())
        << entry.name;
    EXPECT_EQ(entry.traits.agreement == Agreement::kPeriodic, entry.steps_per_sum != nullptr)
        << entry.name;
  }
  EXPECT_EQ(TestCatalog().FindStrategy("no such strategy"), nullptr);
}

}  // namespace
}  // namespace ringside

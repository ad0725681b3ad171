// Tests which calls the loop makes to its model, strategy and observer, and in which order.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <ranges>
#include <string>
#include <vector>

#include "ringside/common/base/dilated_clock.h"
#include "ringside/common/base/errors.h"
#include "ringside/common/training/bucket_tracker.h"
#include "ringside/common/training/evaluator.h"
#include "ringside/common/training/trainer.h"
#include "tests/common/test_dataset.h"
#include "tests/common/thread_ranks.h"

namespace ringside {
namespace {

using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using Log = std::vector<std::string>;

void BusyFor(std::chrono::milliseconds time) {
  const auto until = DilatedClock::now() + time;
  while (DilatedClock::now() < until) continue;
}

// A model of two tensors, one bucket each. It records its batches.
class ProbeModel : public Model {
 public:
  explicit ProbeModel(Log& log) : log_(log) {}

  std::span<const TensorSpec> Tensors() const override { return tensors_; }
  void Bind(FlatSpace& space, const BucketPlan& plan) override {
    space_ = &space;
    tracker_.emplace(space, plan);
  }
  std::optional<DilatedClock::time_point> BeginStep(std::int64_t step,
                                                    Strategy& strategy) override {
    if (step == ends_before) return std::nullopt;
    if (!begins_itself) return DilatedClock::now();
    BusyFor(begin_takes);
    const auto began = DilatedClock::now();
    BusyFor(computes_before);
    tracker_->BeginStep(step, strategy);
    tracker_->AwaitAll();
    return began;
  }
  std::size_t StepSamples(const Batch& batch) const override {
    return begins_itself ? 77 : batch.samples;
  }
  double ForwardBackward(const Batch& batch, Strategy& strategy) override {
    log_.push_back("step " + std::to_string(batch.step));
    batches.push_back(batch);
    tracker_->BeginStep(batch.step, strategy);
    tracker_->AwaitAll();
    BusyFor(forward_takes);
    if (forward_takes.count() > 0) forward_end_ = DilatedClock::now();
    if (batch.step == gradient_diverges_at) space_->grads()[20] = std::nanf("");
    for (const int tensor : {0, 1}) {
      if (log_tensors) log_.push_back("tensor " + std::to_string(tensor));
      tracker_->TensorReady(tensor);
    }
    return batch.step == diverges_at ? std::nan("") : 1.0;
  }
  Evaluation Evaluate(const Batch& batch) override {
    log_.push_back("evaluate " + std::to_string(batch.samples));
    return {.loss_sum = test_loss,
            .correct = 1,
            .samples = static_cast<std::int64_t>(batch.samples),
            .metric_sums = metric_sums};
  }

  std::span<float> Buffers() override { return buffers; }

  std::optional<DilatedClock::time_point> forward_end() const override { return forward_end_; }

  std::vector<Batch> batches;
  std::chrono::milliseconds forward_takes{0};  // 0: not reported
  bool log_tensors = false;
  bool begins_itself = false;  // with these times
  std::chrono::milliseconds begin_takes{0};
  std::chrono::milliseconds computes_before{0};
  std::int64_t ends_before = -1;
  std::int64_t diverges_at = -1;
  std::int64_t gradient_diverges_at = -1;  // in the second bucket
  double test_loss = 1;
  std::map<std::string, double> metric_sums;
  std::vector<float> buffers;

 private:
  Log& log_;
  FlatSpace* space_ = nullptr;
  std::vector<TensorSpec> tensors_{{"a", 16}, {"b", 16}};
  std::optional<BucketTracker> tracker_;
  std::optional<DilatedClock::time_point> forward_end_;
};

class ProbeStrategy : public Strategy {
 public:
  explicit ProbeStrategy(Log& log) : log_(log) {}

  void Start(FlatSpace&, const BucketPlan&, const StartPoint& from) override {
    log_.push_back("start at " + std::to_string(from.step));
  }
  void Submit(const Bucket& bucket) override {
    under_way_.resize(8, false);
    under_way_[static_cast<std::size_t>(bucket.index)] = true;
    if (log_submits) log_.push_back("submit " + std::to_string(bucket.index));
  }
  void Await(const Bucket& bucket) override {
    under_way_.resize(8, false);
    if (!under_way_[static_cast<std::size_t>(bucket.index)]) return;
    under_way_[static_cast<std::size_t>(bucket.index)] = false;
    log_.push_back("await " + std::to_string(bucket.index));
    BusyFor(await_takes);
  }
  void Settle() override { log_.push_back("settle"); }
  void ReadOptimizerState(std::span<float>) override {}
  void Stop() override { log_.push_back("stop"); }

  std::chrono::milliseconds await_takes{0};
  bool log_submits = false;

 private:
  Log& log_;
  std::vector<bool> under_way_;
};

class ProbeObserver : public TrainerObserver {
 public:
  explicit ProbeObserver(Log& log) : log_(log) {}

  bool MayStart(std::int64_t step) override { return step != ends_before; }
  void StepDone(const StepRecord& record) override {
    log_.push_back("done " + std::to_string(record.step));
  }
  void ModelEnded() override { log_.push_back("model ended"); }
  void Evaluated(const EvaluationRecord& record) override {
    log_.push_back("evaluated after " + std::to_string(record.step));
  }
  void Checkpoint(std::int64_t steps_done) override {
    log_.push_back("checkpoint after " + std::to_string(steps_done));
  }
  void CompareReplicas(std::int64_t steps_done) override {
    log_.push_back("compare after " + std::to_string(steps_done));
  }

  std::int64_t ends_before = -1;

 private:
  Log& log_;
};

class TrainerProtocolTest : public ::testing::Test {
 protected:
  TrainerResult Run(const TrainerOptions& options, std::size_t test_samples = 10) {
    const TestDataset dataset(20, test_samples, 1);
    InProcessStore store;
    const BucketPlan plan(model_.Tensors(), {.target_bytes = 0});
    FlatSpace space(plan.elements());
    Timeline timeline;
    model_.Bind(space, plan);
    return Train(
        {world_, model_, strategy_, space, plan, dataset, store, recorder_, timeline, observer_},
        options);
  }

  World world_;
  Log log_;
  ProbeModel model_{log_};
  ProbeStrategy strategy_{log_};
  ProbeObserver observer_{log_};
  Recorder recorder_{16};
};

TEST_F(TrainerProtocolTest, WithoutOverlapEveryBucketWaitsForTheBackwardPass) {
  model_.log_tensors = true;
  strategy_.log_submits = true;
  Run({.end_step = 2, .global_batch = 8, .overlap = false}, 0);
  const auto step = [](const char* name) {
    return Log{name, "tensor 0", "tensor 1", "submit 0", "submit 1", "await 0", "await 1"};
  };
  Log expected{"start at 0"};
  for (const char* name : {"step 0", "step 1"}) {
    const Log one = step(name);
    expected.insert(expected.end(), one.begin(), one.end());
    expected.push_back(name == std::string("step 0") ? "done 0" : "done 1");
  }
  expected.insert(expected.end(), {"settle", "stop"});
  EXPECT_EQ(log_, expected);
}

TEST_F(TrainerProtocolTest, WithoutOverlapAllCommunicationIsExposedInItsStep) {
  strategy_.await_takes = std::chrono::milliseconds(5);
  Run({.end_step = 2, .global_batch = 8, .overlap = false}, 0);
  for (const StepRecord& record : recorder_.steps()) {
    EXPECT_GE(record.exposed_comm_ms, 10);
    EXPECT_LT(record.compute_ms, record.step_ms - 9);
  }
}

TEST_F(TrainerProtocolTest, NamedMetricsAreMeansOverAllBatches) {
  model_.metric_sums = {{"mae", 6}, {"mse", 1.5}};
  Run({.end_step = 1, .global_batch = 8}, 600);  // three batches of an evaluation
  const EvaluationRecord& record = recorder_.evaluations().at(0);
  EXPECT_EQ(record.metrics,
            (std::map<std::string, double>{{"mae", 18.0 / 600}, {"mse", 4.5 / 600}}));
}

TEST_F(TrainerProtocolTest, AModelMayEndTheTraining) {
  model_.ends_before = 2;
  const TrainerResult result = Run({.end_step = 9, .global_batch = 8}, 0);
  EXPECT_EQ(result.steps_done, 2);
  EXPECT_TRUE(result.completed);
  EXPECT_THAT(log_, ElementsAre("start at 0", "step 0", "done 0", "step 1", "await 0", "await 1",
                                "done 1", "await 0", "await 1", "model ended", "settle", "stop"));
  EXPECT_EQ(recorder_.steps().size(), 2U);
}

TEST_F(TrainerProtocolTest, AModelThatEndsIsEvaluatedOnce) {
  model_.ends_before = 1;
  Run({.end_step = 9, .global_batch = 8, .checkpoint_every = 4});
  EXPECT_THAT(log_, ElementsAre("start at 0", "step 0", "done 0", "await 0", "await 1",
                                "model ended", "settle", "evaluate 10", "evaluated after 1",
                                "checkpoint after 1", "stop"));
}

TEST_F(TrainerProtocolTest, AModelTellsWhenItsStepsBeganAndHowManySamplesTheyHad) {
  model_.begins_itself = true;
  model_.begin_takes = std::chrono::milliseconds(20);
  model_.computes_before = std::chrono::milliseconds(10);
  strategy_.await_takes = std::chrono::milliseconds(5);
  Run({.end_step = 3, .global_batch = 8}, 0);
  for (const StepRecord& record : recorder_.steps()) {
    EXPECT_EQ(record.samples, 77U);
    EXPECT_GE(record.data_ms, 20);
    EXPECT_GE(record.compute_ms, 10);
    EXPECT_GE(record.step_ms, record.data_ms + record.compute_ms);
  }
  EXPECT_GE(recorder_.steps()[1].exposed_comm_ms, 10) << "both buckets of step 0";
}

TEST_F(TrainerProtocolTest, DrainsAndSettlesBeforeEvaluations) {
  Run({.end_step = 3, .global_batch = 8, .eval_every = 2});
  EXPECT_THAT(log_, ElementsAre("start at 0",                                  //
                                "step 0",                                      //
                                "done 0", "step 1", "await 0", "await 1",      //
                                "await 0", "await 1", "done 1",                //
                                "settle", "evaluate 10", "evaluated after 2",  //
                                "step 2", "await 0", "await 1", "done 2",      //
                                "settle", "evaluate 10", "evaluated after 3", "stop"));
}

TEST_F(TrainerProtocolTest, CheckpointsAreSettledAndFollowEvaluations) {
  Run({.end_step = 4, .global_batch = 8, .eval_every = 4, .checkpoint_every = 2});
  Log pauses;
  for (const std::string& entry : log_) {
    if (entry.starts_with("step") || entry.starts_with("await")) continue;
    pauses.push_back(entry);
  }
  EXPECT_THAT(pauses, ElementsAre("start at 0", "done 0", "done 1", "settle", "checkpoint after 2",
                                  "done 2", "done 3", "settle", "evaluate 10", "evaluated after 4",
                                  "checkpoint after 4", "stop"));
}

TEST_F(TrainerProtocolTest, AnEarlyEndDrainsSettlesAndCheckpoints) {
  observer_.ends_before = 1;
  const TrainerResult result = Run({.end_step = 4, .global_batch = 8, .checkpoint_every = 100});
  EXPECT_FALSE(result.completed);
  EXPECT_EQ(result.steps_done, 1);
  EXPECT_THAT(log_, ElementsAre("start at 0", "step 0", "await 0", "await 1", "done 0", "settle",
                                "checkpoint after 1", "stop"));
}

TEST_F(TrainerProtocolTest, AnEarlyEndDoesNotRepeatACheckpoint) {
  observer_.ends_before = 2;
  Run({.end_step = 4, .global_batch = 8, .checkpoint_every = 2}, 0);
  EXPECT_EQ(std::ranges::count(log_, "checkpoint after 2"), 1);
  EXPECT_EQ(std::ranges::count(log_, "settle"), 1);
}

TEST_F(TrainerProtocolTest, AnEarlyEndCheckpointsAfterAnEvaluationToo) {
  observer_.ends_before = 2;
  Run({.end_step = 4, .global_batch = 8, .eval_every = 1, .checkpoint_every = 100});
  EXPECT_EQ(std::ranges::count(log_, "checkpoint after 2"), 1);
  EXPECT_EQ(std::ranges::count(log_, "evaluated after 2"), 1);
  EXPECT_EQ(log_.back(), "stop");
}

TEST_F(TrainerProtocolTest, StartsWhereACheckpointWas) {
  Run({.start = {.step = 7}, .end_step = 9, .global_batch = 8}, 0);
  EXPECT_EQ(log_.front(), "start at 7");
  ASSERT_EQ(model_.batches.size(), 2U);
  EXPECT_EQ(model_.batches[0].step, 7);
  EXPECT_EQ(model_.batches[0].epoch, 2);
}

// 20 samples in batches of 8: 8, 8 and 4.
TEST_F(TrainerProtocolTest, GradientsAreScaledByTheGlobalBatch) {
  world_ = TestWorld(2, 3);
  Run({.end_step = 3, .global_batch = 8}, 0);
  ASSERT_EQ(model_.batches.size(), 3U);
  EXPECT_EQ(model_.batches[0].samples, 2U);
  EXPECT_EQ(model_.batches[0].gradient_scale, 1.0F / 8);
  EXPECT_EQ(model_.batches[2].samples, 1U);
  EXPECT_EQ(model_.batches[2].gradient_scale, 1.0F / 4);
}

TEST_F(TrainerProtocolTest, GradientsAreScaledByTheOwnBatchWhereWorkersStepAlone) {
  world_ = TestWorld(4, 5);
  Run({.end_step = 3, .global_batch = 8, .averaging = Averaging::kLocalBatch}, 0);
  ASSERT_EQ(model_.batches.size(), 3U);
  EXPECT_EQ(model_.batches[0].samples, 1U);
  EXPECT_EQ(model_.batches[0].gradient_scale, 1.0F);
  EXPECT_EQ(model_.batches[2].samples, 0U);
  EXPECT_EQ(model_.batches[2].gradient_scale, 0.0F) << "nothing to average";
}

TEST_F(TrainerProtocolTest, ALossThatIsNotFiniteEndsTheRunAtItsStep) {
  model_.diverges_at = 2;
  try {
    Run({.end_step = 1'000'000, .global_batch = 8});
    FAIL() << "no error";
  } catch (const DivergedError& error) {
    EXPECT_EQ(error.step(), 2);
    EXPECT_EQ(error.rank(), 0);
  }
  EXPECT_THAT(log_, Contains("step 2"));
  EXPECT_THAT(log_, Not(AnyOf(Contains("done 2"), Contains("step 3"), Contains("stop"))));
}

TEST_F(TrainerProtocolTest, AGradientThatIsNotFiniteIsNotSubmitted) {
  for (const bool overlap : {true, false}) {
    log_.clear();
    model_.gradient_diverges_at = 1;
    strategy_.log_submits = true;
    try {
      Run({.end_step = 3, .global_batch = 8, .overlap = overlap}, 0);
      FAIL() << "no error";
    } catch (const DivergedError& error) {
      EXPECT_EQ(error.step(), 1);
      EXPECT_EQ(error.rank(), 0);
      EXPECT_THAT(error.problem(), HasSubstr("for parameter 20 in bucket 1 is nan"));
    }
    EXPECT_EQ(std::ranges::count(log_, "submit 1"), 1) << "that of step 0";
  }
}

TEST_F(TrainerProtocolTest, WithoutTheCheckOfGradientsEveryOneIsSubmitted) {
  model_.gradient_diverges_at = 1;
  strategy_.log_submits = true;
  Run({.end_step = 3, .global_batch = 8, .check_gradients = false}, 0);
  EXPECT_EQ(std::ranges::count(log_, "submit 1"), 3);
}

TEST_F(TrainerProtocolTest, ReplicasAreComparedWhenSettledAndBeforeEveryCheckpoint) {
  Run({.end_step = 5, .global_batch = 8, .check_replicas_every = 2, .checkpoint_every = 3}, 0);
  Log pauses;
  for (const std::string& entry : log_) {
    if (entry.starts_with("step") || entry.starts_with("await")) continue;
    pauses.push_back(entry);
  }
  EXPECT_THAT(pauses,
              ElementsAre("start at 0", "done 0", "done 1", "settle", "compare after 2",  //
                          "done 2", "settle", "compare after 3", "checkpoint after 3",    //
                          "done 3", "settle", "compare after 4",                          //
                          "done 4", "settle", "compare after 5", "checkpoint after 5", "stop"));
}

TEST_F(TrainerProtocolTest, ATestLossThatIsNotFiniteIsADivergenceToo) {
  model_.test_loss = std::numeric_limits<double>::infinity();
  EXPECT_THROW(Run({.end_step = 2, .global_batch = 8}), DivergedError);
}

TEST(EvaluatorTest, ATestLossThatIsNotFiniteIsBlamedOnTheLowestRankThatHasOne) {
  const TestDataset dataset(20, 12, 1);
  InProcessStore store;
  const RankOutcomes outcomes = TryRanks(4, [&](int rank) {
    Log log;
    ProbeModel model(log);
    if (rank == 1 || rank == 3) model.test_loss = std::nan("");
    Timeline timeline;
    const World world = TestWorld(rank, 4);
    Evaluator evaluator(world, model, dataset, store, timeline, std::chrono::seconds(10));
    evaluator.Evaluate(5, 0);
  });
  ASSERT_EQ(outcomes.failures(), 4);
  for (const std::exception_ptr& failure : outcomes.by_rank) {
    try {
      std::rethrow_exception(failure);
    } catch (const DivergedError& error) {
      EXPECT_EQ(error.rank(), 1);
      EXPECT_EQ(error.step(), 5);
    }
  }
}

TEST(EvaluatorTest, TheLivingDivideTheWholeTestSplitAmongThemselves) {
  const TestDataset dataset(20, 12, 1);
  InProcessStore store;
  for (const char* name :
       {"evaluation after step 5", "evaluation after step 5, round 1", "evaluation after step 9"}) {
    store.Set(ExchangeKey(name, 1), kLostWorkerValue);
  }
  RunRanks(3, [&](int rank) {
    if (rank == 1) return;
    Log log;
    ProbeModel model(log);
    Timeline timeline;
    const World world = TestWorld(rank, 3);
    Evaluator evaluator(world, model, dataset, store, timeline, std::chrono::seconds(10));
    evaluator.AddTrainingLoss(6, 2);
    const EvaluationRecord record = evaluator.Evaluate(5, 0);
    EXPECT_EQ(record.train_loss, 3);
    EXPECT_DOUBLE_EQ(record.accuracy.value_or(-1), 2.0 / 12) << "of all samples";
    EXPECT_THAT(log, ElementsAre("evaluate 4", "evaluate 6"));
    evaluator.Evaluate(9, 0);
    EXPECT_THAT(log, ElementsAre("evaluate 4", "evaluate 6", "evaluate 6")) << "it is remembered";
  });
}

/// Takes values as large as the coordinator does, and counts the bytes that it keeps.
class LimitedStore : public InProcessStore {
 public:
  void Set(std::string_view key, std::string_view value) override {
    if (value.size() > std::size_t{2} << 20) throw CommError("store", "setting", "too large");
    InProcessStore::Set(key, value);
    const std::lock_guard lock(mutex_);
    sizes_[std::string(key)] = value.size();
  }
  void Forget(std::string_view key) override {
    InProcessStore::Forget(key);
    const std::lock_guard lock(mutex_);
    sizes_.erase(std::string(key));
  }
  std::size_t bytes() const {
    const std::lock_guard lock(mutex_);
    std::size_t bytes = 0;
    for (const auto& [key, size] : sizes_) bytes += size;
    return bytes;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::size_t> sizes_;
};

TEST(EvaluatorTest, AveragesBuffersOfAnySizeAndKeepsNoneOfThemInTheStore) {
  constexpr std::size_t kFloats = 600'000;  // 2.4 MB
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  const TestDataset dataset(20, 0, 1);
  LimitedStore store;
  RunRanks(2, [&](int rank) {
    Log log;
    ProbeModel model(log);
    Timeline timeline;
    const World world = TestWorld(rank, 2);
    Evaluator evaluator(world, model, dataset, store, timeline, std::chrono::seconds(20));
    for (int pause = 0; pause < 10; ++pause) {
      model.buffers.resize(kFloats);
      for (std::size_t i = 0; i < kFloats; ++i) {
        model.buffers[i] = static_cast<float>(i + static_cast<std::size_t>(2 * rank));
      }
      evaluator.AverageBuffers(pause);
      for (std::size_t i = 0; i < kFloats; ++i) {
        ASSERT_EQ(model.buffers[i], static_cast<float>(i + 1)) << i;
      }
      EXPECT_LE(store.bytes(), 4 * kPiece) << "two pieces of each worker";
    }
  });
}

// The communication of the last step before a pause is exposed, and belongs to that step.
TEST_F(TrainerProtocolTest, DrainingCountsInTheStepThatIsDrained) {
  strategy_.await_takes = std::chrono::milliseconds(3);
  Run({.end_step = 2, .global_batch = 8, .eval_every = 1});
  for (const StepRecord& record : recorder_.steps()) {
    EXPECT_GE(record.exposed_comm_ms, 6) << "two buckets of 3 ms";
    EXPECT_GE(record.step_ms, record.exposed_comm_ms);
  }
}

TEST_F(TrainerProtocolTest, TheForwardPassIsCountedWithoutItsWaits) {
  Run({.end_step = 1, .global_batch = 8}, 0);
  EXPECT_EQ(recorder_.steps().at(0).forward_ms, 0) << "the model does not tell";
  strategy_.await_takes = std::chrono::milliseconds(3);
  model_.forward_takes = std::chrono::milliseconds(5);
  Run({.end_step = 3, .global_batch = 8}, 0);
  for (const StepRecord& record : recorder_.steps() | std::views::drop(1)) {
    EXPECT_GE(record.forward_ms, 5) << record.step;
    EXPECT_LE(record.forward_ms, record.compute_ms + 1e-9) << record.step;
  }
}

TEST_F(TrainerProtocolTest, TellsWhenBucketsAreReadyIfTheModelTellsWhereItsPassesMeet) {
  EXPECT_THAT(Run({.end_step = 3, .global_batch = 8}, 0).ready_shares, ::testing::IsEmpty());
  model_.forward_takes = std::chrono::milliseconds(1);
  const std::vector<double> ready = Run({.end_step = 3, .global_batch = 8}, 0).ready_shares;
  ASSERT_EQ(ready.size(), 2U);
  EXPECT_GE(ready[0], 0);
  EXPECT_LT(ready[0], ready[1]) << "in the order of submits";
  EXPECT_LE(ready[1], 1);
  EXPECT_THAT(Run({.end_step = 3, .global_batch = 8, .overlap = false}, 0).ready_shares,
              ElementsAre(1, 1));
}

TEST_F(TrainerProtocolTest, WithoutAPauseAStepPaysForTheOneBefore) {
  strategy_.await_takes = std::chrono::milliseconds(3);
  Run({.end_step = 3, .global_batch = 8}, 0);
  const std::vector<StepRecord>& steps = recorder_.steps();
  ASSERT_EQ(steps.size(), 3U);
  EXPECT_GE(steps[1].exposed_comm_ms, 6);
  EXPECT_GE(steps[2].exposed_comm_ms, 12) << "its own at the end of the run, too";
}

TEST_F(TrainerProtocolTest, LargeTestSplitsAreEvaluatedInBatches) {
  Run({.end_step = 0, .global_batch = 8}, 600);
  EXPECT_THAT(log_, ElementsAre("start at 0", "settle", "evaluate 256", "evaluate 256",
                                "evaluate 88", "evaluated after 0", "stop"));
  EXPECT_DOUBLE_EQ(recorder_.evaluations().at(0).accuracy.value_or(-1), 3.0 / 600);
  EXPECT_DOUBLE_EQ(recorder_.evaluations().at(0).loss, 3.0 / 600);
}

}  // namespace
}  // namespace ringside

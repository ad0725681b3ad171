#include "ringside/common/training/trainer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

#include "ringside/common/base/errors.h"
#include "ringside/common/data/sampler.h"
#include "ringside/common/strategy/none_strategy.h"
#include "tests/common/sum_strategy.h"
#include "tests/common/test_dataset.h"
#include "tests/common/test_job.h"
#include "tests/common/thread_ranks.h"

namespace ringside {
namespace {

using ::testing::IsEmpty;

std::vector<TestJobOutcome> RunSummed(TestJobOptions options, int workers, const Dataset& dataset,
                                      const ObserverFactory& observer = {}) {
  SumGroup group(workers);
  options.workers = workers;
  return RunTestJob(
      options, dataset,
      [&](const StrategyContext& context) { return std::make_unique<SumStrategy>(context, group); },
      observer);
}

TestJobOutcome RunAlone(TestJobOptions options, const Dataset& dataset) {
  options.workers = 1;
  return RunTestJob(options, dataset, kNoneEntry.make).front();
}

double RelativeDistance(const std::vector<float>& a, const std::vector<float>& b) {
  double difference = 0;
  double norm = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference += (a[i] - b[i]) * (a[i] - b[i]);
    norm += b[i] * b[i];
  }
  return std::sqrt(difference / norm);
}

// 42 samples in batches of 8: the last batch of an epoch has 2, so with 3 or 4 workers some get
// none.
// Every gradient is finite, and there is no loss after the last step.
TEST(TrainerTest, AParameterThatOverflowsInTheLastStepEndsTheRun) {
  const TestDataset dataset(8, 0);
  TestJobOptions options{.optimizer = {.weight_decay = 1000},
                         .schedule = {.base = 3e38},
                         .trainer = {.end_step = 1, .global_batch = 8}};
  for (const int workers : {1, 2}) {
    try {
      RunSummed(options, workers, dataset);
      FAIL() << "expected a DivergedError";
    } catch (const DivergedError& error) {
      EXPECT_THAT(error.problem(), ::testing::MatchesRegex("parameter [0-9]+ of worker [01] is "
                                                           "-?inf after 1 steps"));
    }
  }
}

class TrajectoryTest : public ::testing::TestWithParam<int> {
 protected:
  const TestDataset dataset_{42, 30};
  TestJobOptions options_{.trainer = {.end_step = 30, .global_batch = 8, .eval_every = 10}};
};

TEST_P(TrajectoryTest, WorkersFollowTheSingleWorkerExactlyWhereSumsAreExact) {
  options_.model.integer_gradients = true;
  const TestJobOutcome alone = RunAlone(options_, dataset_);
  for (const TestJobOutcome& worker : RunSummed(options_, GetParam(), dataset_)) {
    EXPECT_EQ(worker.params, alone.params);
  }
}

TEST_P(TrajectoryTest, WorkersFollowTheSingleWorkerClosely) {
  options_.optimizer.momentum = 0.9;
  options_.schedule.base = 0.05;
  const TestJobOutcome alone = RunAlone(options_, dataset_);
  const std::vector<TestJobOutcome> workers = RunSummed(options_, GetParam(), dataset_);
  for (const TestJobOutcome& worker : workers) {
    EXPECT_EQ(worker.params, workers[0].params) << "the same bits on every worker";
    EXPECT_LT(RelativeDistance(worker.params, alone.params), 1e-5);
  }
}

TEST_P(TrajectoryTest, EvaluationsAreTheSameOnEveryWorker) {
  const TestJobOutcome alone = RunAlone(options_, dataset_);
  const std::vector<TestJobOutcome> workers = RunSummed(options_, GetParam(), dataset_);
  for (const TestJobOutcome& worker : workers) {
    ASSERT_EQ(worker.evaluations.size(), 3U);
    for (std::size_t i = 0; i < 3; ++i) {
      const EvaluationRecord& mine = worker.evaluations[i];
      const EvaluationRecord& first = workers[0].evaluations[i];
      EXPECT_EQ(mine.step, static_cast<std::int64_t>(10 * (i + 1)));
      EXPECT_DOUBLE_EQ(mine.epoch, static_cast<double>(mine.step) / 6);
      EXPECT_EQ(mine.loss, first.loss);
      EXPECT_EQ(mine.train_loss, first.train_loss);
      EXPECT_EQ(mine.train_seconds, first.train_seconds);
      EXPECT_EQ(mine.accuracy, alone.evaluations[i].accuracy);
      EXPECT_NEAR(mine.loss, alone.evaluations[i].loss, 1e-4);
      EXPECT_NEAR(mine.train_loss, alone.evaluations[i].train_loss, 1e-4);
    }
  }
}

TEST_P(TrajectoryTest, TrainLossIsTheMeanOverAllWorkersSinceTheEvaluationBefore) {
  const std::vector<TestJobOutcome> workers = RunSummed(options_, GetParam(), dataset_);
  for (std::size_t evaluation = 0; evaluation < 3; ++evaluation) {
    double sum = 0;
    double samples = 0;
    for (const TestJobOutcome& worker : workers) {
      for (std::size_t step = 10 * evaluation; step < 10 * (evaluation + 1); ++step) {
        sum += worker.steps[step].loss_sum;
        samples += static_cast<double>(worker.steps[step].samples);
      }
    }
    EXPECT_NEAR(workers[0].evaluations[evaluation].train_loss, sum / samples, 1e-12);
  }
}

TEST_P(TrajectoryTest, StepsCountEverySampleOnce) {
  std::size_t samples = 0;
  for (const TestJobOutcome& worker : RunSummed(options_, GetParam(), dataset_)) {
    EXPECT_EQ(worker.result.steps_done, 30);
    EXPECT_TRUE(worker.result.completed);
    ASSERT_EQ(worker.steps.size(), 30U);
    for (std::size_t i = 0; i < 30; ++i) {
      EXPECT_EQ(worker.steps[i].step, static_cast<std::int64_t>(i));
      samples += worker.steps[i].samples;
    }
  }
  EXPECT_EQ(samples, 5U * 42);
}

TEST_P(TrajectoryTest, BuffersEndAsTheMeanOverWorkers) {
  options_.model.running_mean = true;
  options_.trainer.end_step = 1;
  Sampler sampler(42, 8, options_.trainer.seed);
  std::vector<double> mean(6, 0.0);
  for (int rank = 0; rank < GetParam(); ++rank) {
    const std::vector<std::size_t> indices = sampler.Indices(0, rank, GetParam());
    std::vector<float> sample(6);
    for (const std::size_t index : indices) {
      dataset_.Read(Split::kTrain, index, sample);
      for (std::size_t i = 0; i < 6; ++i) {
        mean[i] += 0.5 * sample[i] / static_cast<double>(indices.size()) / GetParam();
      }
    }
  }
  for (const TestJobOutcome& worker : RunSummed(options_, GetParam(), dataset_)) {
    ASSERT_EQ(worker.buffers.size(), 6U);
    for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(worker.buffers[i], mean[i], 1e-6);
  }
}

INSTANTIATE_TEST_SUITE_P(Worlds, TrajectoryTest, ::testing::Values(1, 2, 3, 4));

TEST(TrainerTest, LearnsWhatThereIsToLearn) {
  const TestDataset dataset(300, 90);
  const TestJobOutcome outcome = RunAlone(
      {.schedule = {.base = 0.5}, .trainer = {.end_step = 200, .global_batch = 16}}, dataset);
  ASSERT_EQ(outcome.evaluations.size(), 1U);
  EXPECT_GT(outcome.evaluations[0].accuracy, 0.95);
  EXPECT_LT(outcome.evaluations[0].loss, 0.3);
}

TEST(TrainerTest, WithoutATestSplitNothingIsEvaluated) {
  const TestDataset dataset(20, 0);
  TestJobOptions options{.trainer = {.end_step = 5, .global_batch = 8, .eval_every = 1}};
  for (const TestJobOutcome& worker : RunSummed(options, 2, dataset)) {
    EXPECT_THAT(worker.evaluations, IsEmpty());
    EXPECT_EQ(worker.steps.size(), 5U);
  }
}

TEST(TrainerTest, SamplesMayHaveNoElements) {
  const TestDataset dataset(20, 6, /*inputs=*/0, /*classes=*/2);
  TestJobOptions options{.model = {.inputs = 0, .classes = 2},
                         .trainer = {.end_step = 5, .global_batch = 8}};
  EXPECT_EQ(RunSummed(options, 2, dataset)[0].evaluations.size(), 1U);
}

TEST(TrainerTest, NoStepsStillEvaluate) {
  const TestDataset dataset(20, 6);
  const TestJobOutcome outcome = RunAlone({.trainer = {.end_step = 0, .global_batch = 8}}, dataset);
  EXPECT_EQ(outcome.result.steps_done, 0);
  EXPECT_TRUE(outcome.result.completed);
  ASSERT_EQ(outcome.evaluations.size(), 1U);
  EXPECT_EQ(outcome.evaluations[0].train_loss, 0) << "a mean over nothing is not NaN";
}

TEST(TrainerTest, TimesOfAStepAddUp) {
  const TestDataset dataset(64, 16);
  const TestJobOutcome outcome =
      RunAlone({.trainer = {.end_step = 20, .global_batch = 8, .eval_every = 7}}, dataset);
  double seconds = 0;
  for (const StepRecord& record : outcome.steps) {
    EXPECT_GT(record.compute_ms, 0);
    EXPECT_LE(record.data_ms + record.compute_ms + record.submit_ms + record.exposed_comm_ms,
              record.step_ms + 1e-9);
    seconds += record.step_ms / 1000;
  }
  EXPECT_NEAR(outcome.result.train_seconds, seconds, 1e-12);
  EXPECT_NEAR(outcome.evaluations.back().train_seconds, seconds, 1e-12);
}

// A run that is interrupted at a checkpoint and resumed has the same result as one without a break.
TEST(TrainerTest, ResumesFromAStartPoint) {
  const TestDataset dataset(42, 6);
  TestJobOptions options{.optimizer = {.momentum = 0.9},
                         .trainer = {.end_step = 20, .global_batch = 8}};
  const TestJobOutcome whole = RunAlone(options, dataset);

  std::vector<float> state;
  const auto keep_state = [&](const StrategyContext& context) -> std::unique_ptr<Strategy> {
    class Keeping : public NoneStrategy {
     public:
      Keeping(const StrategyContext& c, std::vector<float>& kept)
          : NoneStrategy(c), kept_(kept), size_(c.optimizer.state_size()) {}
      void Stop() override {
        kept_.resize(size_);
        ReadOptimizerState(kept_);
      }

     private:
      std::vector<float>& kept_;
      std::size_t size_;
    };
    return std::make_unique<Keeping>(context, state);
  };
  TestJobOptions half = options;
  half.trainer.end_step = 11;
  half.params = RunTestJob(half, dataset, keep_state).front().params;
  half.trainer.start = {.step = 11, .optimizer_state = state};
  half.trainer.end_step = 20;
  const TestJobOutcome resumed = RunAlone(half, dataset);
  EXPECT_EQ(resumed.params, whole.params);
  EXPECT_EQ(resumed.result.steps_done, 20);
  EXPECT_EQ(resumed.steps.front().step, 11);
}

TEST(TrainerTest, AFailingWorkerLeavesAtOnceAndTheOthersByTheirDeadline) {
  class FaultyDataset : public TestDataset {
   public:
    using TestDataset::TestDataset;
    std::int64_t Read(Split split, std::size_t index, std::span<float> out) const override {
      if (index == 13) throw DataError("train.bin", 13, "a sample");
      return TestDataset::Read(split, index, out);
    }
  };
  const FaultyDataset dataset(32, 8);
  TestJobOptions options{.comm = {.timeout = std::chrono::milliseconds(300)},
                         .trainer = {.end_step = 8, .global_batch = 8}};
  EXPECT_THROW(RunSummed(options, 3, dataset), DataError) << "the cause comes first";
}

TEST(TrainerTest, WorkersThatStepAloneMayBeFarApartAtAnEvaluation) {
  const TestDataset dataset(32, 8);
  TestJobOptions options{.workers = 2,
                         .trainer = {.end_step = 4,
                                     .global_batch = 8,
                                     .averaging = Averaging::kLocalBatch,
                                     .shared_params = false,
                                     .eval_every = 2,
                                     .timeout = std::chrono::seconds(30)},
                         .drift = std::chrono::minutes(10)};
  EXPECT_EQ(RunTestJob(options, dataset, kNoneEntry.make)[1].evaluations.size(), 2U);
}

TEST(TrainerTest, WorkersThatStepAloneKeepTheirBuffers) {
  const TestDataset dataset(42, 30);
  TestJobOptions options{.workers = 2,
                         .model = {.running_mean = true},
                         .trainer = {.end_step = 1,
                                     .global_batch = 8,
                                     .averaging = Averaging::kLocalBatch,
                                     .shared_params = false}};
  const std::vector<TestJobOutcome> workers = RunTestJob(options, dataset, kNoneEntry.make);
  Sampler sampler(42, 8, options.trainer.seed);
  for (int rank = 0; rank < 2; ++rank) {
    const std::vector<std::size_t> indices = sampler.Indices(0, rank, 2);
    std::vector<float> mean(6, 0.0F);
    std::vector<float> sample(6);
    for (const std::size_t index : indices) {
      dataset.Read(Split::kTrain, index, sample);
      for (std::size_t i = 0; i < 6; ++i) {
        mean[i] += 0.5F * sample[i] / static_cast<float>(indices.size());
      }
    }
    const std::vector<float>& buffers = workers[static_cast<std::size_t>(rank)].buffers;
    ASSERT_EQ(buffers.size(), 6U);
    for (std::size_t i = 0; i < 6; ++i) EXPECT_NEAR(buffers[i], mean[i], 1e-6);
  }
}

TEST(TrainerTest, AWorkerMissingFromAnEvaluationIsNamed) {
  const TestDataset dataset(32, 8);
  InProcessStore store;
  TestModel model({});
  const BucketPlan plan(model.Tensors(), {});
  FlatSpace space(plan.elements());
  model.Bind(space, plan);
  const auto optimizer = Optimizer::Make({}, plan.elements());
  const Schedule schedule({});
  Recorder recorder(0);
  Timeline timeline;
  TrainerObserver observer;
  const World world = TestWorld(0, 2);
  const CommOptions comm;
  NoneStrategy strategy({world, store, comm, *optimizer, schedule, recorder, timeline});
  try {
    Train({world, model, strategy, space, plan, dataset, store, recorder, timeline, observer},
          {.end_step = 1, .global_batch = 8, .barrier_timeout = std::chrono::milliseconds(100)});
    FAIL() << "worker 1 never came";
  } catch (const CommError& error) {
    EXPECT_EQ(error.peer(), "worker 1");
  }
}

}  // namespace
}  // namespace ringside

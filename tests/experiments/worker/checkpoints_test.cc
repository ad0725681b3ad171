#include "ringside/experiments/worker/checkpoints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <functional>
#include <future>
#include <limits>
#include <memory>
#include <optional>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/checkpoint/checkpoint_folder.h"
#include "ringside/experiments/system/files/files.h"
#include "tests/common/temporary_directory.h"
#include "tests/common/thread_ranks.h"
#include "tests/experiments/checkpoint/checkpoint_testing.h"
#include "tests/experiments/job/job_testing.h"

namespace ringside {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class SmallModel : public Model {
 public:
  std::span<const TensorSpec> Tensors() const override { return tensors_; }
  void Bind(FlatSpace&, const BucketPlan&) override {}
  double ForwardBackward(const Batch&, Strategy&) override { return 0; }
  Evaluation Evaluate(const Batch&) override { return {}; }
  std::span<float> Buffers() override { return buffers_; }

 private:
  std::array<TensorSpec, 1> tensors_{TensorSpec{"w", 2}};
  std::array<float, 1> buffers_{};
};

class StrategyWithState : public Strategy {
 public:
  explicit StrategyWithState(int rank) : own_{static_cast<float>(rank)} {}
  void Start(FlatSpace&, const BucketPlan&, const StartPoint&) override {}
  void Submit(const Bucket&) override {}
  void Await(const Bucket&) override {}
  void Stop() override {}
  void ReadOptimizerState(std::span<float> out) override { std::ranges::fill(out, momentum_); }
  void SetMomentum(float momentum) { momentum_ = momentum; }
  std::vector<StateVector> State() override {
    return {{.name = "residual", .values = own_},
            {.name = "momentum", .values = shared_, .shared = true}};
  }

 private:
  float momentum_ = 5;
  std::array<float, 1> own_;
  std::array<float, 1> shared_{77};
};

class CheckpointsTest : public ::testing::Test {
 protected:
  struct Worker {
    MemberSetup setup;
    SmallModel model;
    FlatSpace space{2};
    Recorder recorder{1};
    std::unique_ptr<Checkpoints> checkpoints;
  };

  CheckpointsTest() : spec_(ProfileSpec("ring", 2, 100)) {
    spec_.global_batch = 8;
    spec_.batch_per_worker = 0;
    spec_.optimizer.momentum = 0.9;
    spec_.keep_checkpoints = 0;
  }

  /// Runs `body` on every worker of a new job.
  void RunJob(const std::function<void(Worker&)>& body) {
    InProcessStore store;
    RunRanks(spec_.workers, [&](int rank) {
      Worker worker;
      worker.setup.who = {Role::kWorker, rank};
      worker.setup.world = TestWorld(rank, spec_.workers);
      worker.setup.bundle_dir = directory_.path();
      worker.setup.spec = spec_;
      worker.setup.resume = resume_of_later_generation_.value_or(spec_.resume);
      worker.setup.generation = resume_of_later_generation_ ? 1 : 0;
      worker.checkpoints =
          std::make_unique<Checkpoints>(Checkpoints::Parts{.setup = worker.setup,
                                                           .store = store,
                                                           .model = worker.model,
                                                           .space = worker.space,
                                                           .optimizer_state_size = 2,  // momentum
                                                           .recorder = worker.recorder,
                                                           .total_steps = 100,
                                                           .steps_per_epoch = 3,
                                                           .samples = samples_});
      body(worker);
    });
  }

  /// Writes two checkpoints, with the step as every parameter.
  void SaveTwo(std::int64_t first = 4, std::int64_t second = 8) {
    RunJob([&](Worker& worker) {
      StrategyWithState strategy(worker.setup.who.index);
      for (const std::int64_t step : {first, second}) {
        std::ranges::fill(worker.space.params(), static_cast<float>(step));
        worker.model.Buffers()[0] = static_cast<float>(10 * step);
        worker.checkpoints->Save(strategy, step);
      }
    });
  }

  /// The step where every worker of a resumed run starts.
  std::vector<std::int64_t> ResumedSteps() {
    std::vector<std::int64_t> steps(static_cast<std::size_t>(spec_.workers));
    RunJob([&](Worker& worker) {
      worker.checkpoints->Resume();
      const auto rank = static_cast<std::size_t>(worker.setup.who.index);
      steps[rank] = worker.checkpoints->start().step;
      if (rank == 0) notes_ = worker.recorder.notes();
    });
    return steps;
  }

  template <typename E>
  std::string RefusalOfResume() {
    try {
      ResumedSteps();
    } catch (const E& error) {
      return error.what();
    }
    return {};
  }

  void Damage(const std::string& path) const {
    std::string content = ReadFile(path, 1 << 20);
    content.back() = static_cast<char>(content.back() ^ 1);
    Overwrite(path, content);
  }

  const TemporaryDirectory directory_;
  const std::string folder_ = directory_.Path("checkpoints");
  const std::string last_ = CheckpointPath(folder_, 8);
  RunSpec spec_;
  std::int64_t samples_ = 24;
  std::optional<std::string> resume_of_later_generation_;
  std::vector<std::string> notes_;
};

TEST_F(CheckpointsTest, EveryWorkerGetsItsOwnStateBack) {
  SaveTwo();
  spec_.resume = last_;
  RunJob([](Worker& worker) {
    worker.checkpoints->Resume();
    EXPECT_EQ(worker.checkpoints->start().step, 8);
    EXPECT_THAT(worker.checkpoints->start().optimizer_state, ElementsAre(5, 5));
    EXPECT_THAT(worker.space.params(), ElementsAre(8, 8));
    EXPECT_THAT(worker.model.Buffers(), ElementsAre(80));
    const auto rank = static_cast<float>(worker.setup.who.index);
    EXPECT_EQ(*worker.checkpoints->saved_state(),
              (SavedState{{"momentum", {77}}, {"residual", {rank}}}));
  });
  const CheckpointFile file(last_);
  EXPECT_EQ(file.info().epoch, 2);
  EXPECT_EQ(file.info().step_of_epoch, 2);
  EXPECT_EQ(file.info().optimizer, "sgd");
}

TEST_F(CheckpointsTest, AFreshRunHasNothing) {
  RunJob([](Worker& worker) {
    worker.checkpoints->Resume();
    EXPECT_EQ(worker.checkpoints->start().step, 0);
    EXPECT_EQ(worker.checkpoints->saved_state(), nullptr);
  });
}

TEST_F(CheckpointsTest, OtherWorkersGetOnlyWhatIsShared) {
  SaveTwo();
  spec_.resume = last_;
  spec_.workers = 3;
  RunJob([](Worker& worker) {
    worker.checkpoints->Resume();
    EXPECT_EQ(*worker.checkpoints->saved_state(), (SavedState{{"momentum", {77}}}));
  });
}

TEST_F(CheckpointsTest, OfABundleTheNewestWholeOneCounts) {
  SaveTwo();
  spec_.resume = directory_.path();
  EXPECT_THAT(ResumedSteps(), ElementsAre(8, 8));
  EXPECT_THAT(notes_, IsEmpty());
  Damage(last_);
  EXPECT_THAT(ResumedSteps(), ElementsAre(4, 4));
  EXPECT_THAT(notes_,
              ElementsAre(AllOf(HasSubstr("the newest checkpoint"), HasSubstr("step-8.ckpt"))));
}

TEST_F(CheckpointsTest, AllTakeTheOneThatTheOthersCanRead) {
  SaveTwo();
  spec_.resume = folder_;
  Damage(WorkerPartPath(last_, 1));
  EXPECT_THAT(ResumedSteps(), ElementsAre(4, 4));
  Damage(WorkerPartPath(CheckpointPath(folder_, 4), 0));
  EXPECT_THAT(RefusalOfResume<ConfigError>(), AllOf(HasSubstr("worker 0 finds no whole checkpoint"),
                                                    HasSubstr("step-4.worker-0.ckpt")));
}

TEST_F(CheckpointsTest, ANamedFileThatIsDamagedIsRefused) {
  SaveTwo();
  spec_.resume = last_;
  Damage(last_);
  EXPECT_THAT(RefusalOfResume<DataError>(), HasSubstr("agree with their checksum"));
}

TEST_F(CheckpointsTest, ALaterGenerationWithoutAWholeOneBeginsWhereTheRunBegan) {
  SaveTwo();
  const std::string elsewhere = directory_.Path("elsewhere");
  std::filesystem::copy(folder_, elsewhere);
  for (const std::int64_t step : {4, 8}) Damage(CheckpointPath(folder_, step));
  resume_of_later_generation_ = folder_;
  EXPECT_THAT(ResumedSteps(), ElementsAre(0, 0));
  EXPECT_THAT(notes_, ElementsAre(HasSubstr("step-8.ckpt")));
  for (const std::string& began : {elsewhere, CheckpointPath(elsewhere, 8)}) {
    spec_.resume = began;
    EXPECT_THAT(ResumedSteps(), ElementsAre(8, 8)) << began;
  }
}

// A generation that fails after the last step does some steps again, from the one before.
TEST_F(CheckpointsTest, TheOneBeforeTheLastStaysUntilTheRunHasEnded) {
  spec_.keep_checkpoints = 1;
  SaveTwo(96, 100);
  EXPECT_THAT(CheckpointSteps(folder_), ElementsAre(100, 96));
  resume_of_later_generation_ = folder_;
  EXPECT_THAT(ResumedSteps(), ElementsAre(96, 96));
}

TEST_F(CheckpointsTest, ARunWithOtherSamplesIsRefused) {
  SaveTwo();
  spec_.resume = directory_.path();
  const RunSpec right = spec_;
  spec_.seed = 9;
  EXPECT_THAT(RefusalOfResume<ConfigError>(), HasSubstr("its seed is 1, that of this run 9"));
  spec_ = right;
  spec_.global_batch = 16;
  EXPECT_THAT(RefusalOfResume<ConfigError>(), HasSubstr("its global batch is 8"));
  spec_ = right;
  spec_.data = "digits";
  EXPECT_THAT(RefusalOfResume<ConfigError>(), HasSubstr("dataset"));
  spec_ = right;
  spec_.optimizer.kind = OptimizerOptions::Kind::kAdam;
  EXPECT_THAT(RefusalOfResume<ConfigError>(), HasSubstr("optimizer 'sgd'"));
  spec_ = right;
  samples_ = 25;
  EXPECT_THAT(RefusalOfResume<ConfigError>(),
              HasSubstr("its number of training samples is 24, that of this run 25"));
}

TEST_F(CheckpointsTest, AStateThatIsNotFiniteIsNotKept) {
  spec_.workers = 1;
  RunJob([&](Worker& worker) {
    StrategyWithState strategy(0);
    strategy.SetMomentum(std::numeric_limits<float>::infinity());
    EXPECT_THROW(worker.checkpoints->Save(strategy, 4), DivergedError);
  });
  EXPECT_EQ(FindCheckpointFolder(folder_), "");
}

TEST_F(CheckpointsTest, NobodyTrainsOnBeforeItIsWritten) {
  constexpr std::int64_t kCheckpoints = 20;
  std::vector<std::int64_t> missing;
  RunJob([&](Worker& worker) {
    StrategyWithState strategy(worker.setup.who.index);
    for (std::int64_t step = 1; step <= kCheckpoints; ++step) {
      worker.checkpoints->Save(strategy, step);
      if (worker.setup.who.index == 0) continue;
      if (!std::filesystem::exists(CheckpointPath(folder_, step))) missing.push_back(step);
    }
  });
  EXPECT_THAT(missing, IsEmpty());
}

TEST_F(CheckpointsTest, TheBoardShowsThatAWorkerWaitsForTheOthers) {
  const Activity waits{.kind = Activity::Kind::kSettle, .step = 4};
  std::promise<std::shared_ptr<const ActivityBoard>> of_worker_1;
  RunJob([&](Worker& worker) {
    StrategyWithState strategy(worker.setup.who.index);
    if (worker.setup.who.index == 1) {
      of_worker_1.set_value(worker.recorder.shared_activity());
    } else {
      const auto board = of_worker_1.get_future().get();
      EXPECT_NO_THROW(WaitUntil("worker 1 waits", [&] { return board->Get().activity == waits; }));
    }
    worker.checkpoints->Save(strategy, 4);
    EXPECT_EQ(worker.recorder.activity().Get().activity, waits);
  });
}

TEST_F(CheckpointsTest, TheBoardShowsThatWorkerZeroWrites) {
  spec_.workers = 1;
  RunJob([&](Worker& worker) {
    StrategyWithState strategy(0);
    const std::string path = CheckpointPath(folder_, 4);
    std::filesystem::create_directories(path + "/in the way");
    EXPECT_THROW(worker.checkpoints->Save(strategy, 4), DataError);
    EXPECT_EQ(worker.recorder.activity().Get().activity,
              (Activity{.kind = Activity::Kind::kCheckpoint, .step = 4}));
  });
}

TEST_F(CheckpointsTest, OlderOnesAreRemoved) {
  spec_.keep_checkpoints = 1;
  SaveTwo();
  EXPECT_THAT(CheckpointSteps(folder_), ElementsAre(8));
  EXPECT_FALSE(std::filesystem::exists(WorkerPartPath(CheckpointPath(folder_, 4), 1)));
  CheckpointFile(last_).CheckAll();
}

}  // namespace
}  // namespace ringside

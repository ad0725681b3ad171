// Every gradient is applied exactly once, whatever dies meanwhile: jobs of real processes whose
// parameters count updates.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "ringside/common/data/sampler.h"
#include "ringside/experiments/checkpoint/params_file.h"
#include "ringside/experiments/job/launcher/run_job.h"
#include "ringside/experiments/system/process.h"
#include "tests/common/temporary_directory.h"
#include "tests/experiments/job/job_testing.h"
#include "tests/experiments/job/launcher/update_ledger.h"

namespace ringside {
namespace {

constexpr int kWorkers = 3;
constexpr std::int64_t kEpochs = 2;

class ExactlyOnceTest : public ::testing::Test {
 protected:
  JobOutcome Run(const RunSpec& spec, OnFailure on_failure) {
    const std::string bundle = directory_.Path("run");
    const JobOutcome outcome =
        RunJob(spec, {.bundle_dir = bundle,
                      .show_progress = false,
                      .echo_logs = false,
                      .program = DirectoryOfThisExecutable() + "/ledger_program",
                      .recovery = {.on_failure = on_failure}});
    for (const pid_t pid : PidsIn(bundle)) {
      EXPECT_TRUE(ProcessesOfGroup(pid).empty()) << "left of process group " << pid;
    }
    if (outcome.status == JobStatus::kDone) params_ = ReadParams(bundle + "/params.bin");
    return outcome;
  }

  /// A sample of a global step that a worker trained, or should have.
  struct Part {
    std::int64_t step = 0;
    int worker = 0;
    int tensor = 0;
    int times = 0;  ///< How often its gradient was applied.

    std::string Text() const {
      return "worker " + std::to_string(worker) + ", step " + std::to_string(step) + ", bucket " +
             std::to_string(tensor) + ": applied " + std::to_string(times) + " times";
    }
  };

  /// What every worker contributed to every step and bucket, by the order of samples of the spec.
  std::vector<Part> Parts(const RunSpec& spec) const {
    Sampler sampler(kLedgerSamples, kLedgerBatch, spec.seed);
    std::vector<Part> parts;
    for (std::int64_t step = 0; step < kEpochs * sampler.steps_per_epoch(); ++step) {
      for (int worker = 0; worker < spec.workers; ++worker) {
        for (const std::size_t sample : sampler.Indices(step, worker, spec.workers)) {
          for (int tensor = 0; tensor < kLedgerTensors; ++tensor) {
            parts.push_back(
                {step, worker, tensor,
                 TimesApplied(params_, tensor, sample, step / sampler.steps_per_epoch())});
          }
        }
      }
    }
    return parts;
  }

  void ExpectEachOnce(const RunSpec& spec) const {
    for (const Part& part : Parts(spec)) EXPECT_EQ(part.times, 1) << part.Text();
  }

  const TemporaryDirectory directory_;
  std::vector<float> params_;
};

/// Strategy, phase of the step in which a worker is killed; no phase: none is.
class KilledInAStep : public ExactlyOnceTest,
                      public ::testing::WithParamInterface<std::tuple<std::string, std::string>> {};

TEST_P(KilledInAStep, ARestartedRunAppliesEachGradientOnce) {
  const auto& [strategy, phase] = GetParam();
  RunSpec spec = LedgerSpec(strategy, kWorkers, kEpochs);
  spec.checkpoint_every = 4;
  const ScopedVariable fault("RINGSIDE_LEDGER_FAULT", phase + " 10 " + directory_.Path("struck"));
  const JobOutcome outcome = Run(spec, OnFailure::kRestart);
  ASSERT_EQ(outcome.status, JobStatus::kDone) << outcome.error;
  EXPECT_EQ(outcome.summary["restarts"], phase == "none" ? 0 : 1);
  if (phase != "none") {
    EXPECT_EQ(outcome.summary["failed_generations"][0]["failure"]["kind"], "signal");
  }
  ExpectEachOnce(spec);
}

INSTANTIATE_TEST_SUITE_P(
    All, KilledInAStep,
    ::testing::Combine(::testing::Values("ring", "halving-doubling", "tree", "shm", "hierarchical",
                                         "ps-sync", "ps-async", "ps-ssp", "mixed"),
                       ::testing::Values("none", "awaited", "submitted-0", "submitted")),
    [](const auto& run) {
      std::string name = std::get<0>(run.param) + "_" + std::get<1>(run.param);
      std::ranges::replace(name, '-', '_');
      return name;
    });

class LostWorkerLedger : public ExactlyOnceTest,
                         public ::testing::WithParamInterface<std::string> {};

// Before its step 6 worker 1 has awaited the answers to steps 0 to 4. A push of step 5 may have
// been applied or not, each bucket by itself.
TEST_P(LostWorkerLedger, CountsForAllOthersAndForWhatItHadPushed) {
  constexpr int kLost = 1;
  constexpr std::int64_t kStep = 6;
  const ScopedVariable fault("RINGSIDE_FAULT", "kill@rank1:step6");
  const RunSpec spec = LedgerSpec(GetParam(), kWorkers, kEpochs);
  const JobOutcome outcome = Run(spec, OnFailure::kShrink);
  ASSERT_EQ(outcome.status, JobStatus::kDone) << outcome.error;
  ASSERT_EQ(outcome.summary["lost_workers"].size(), 1U);
  for (const Part& part : Parts(spec)) {
    if (part.worker != kLost || part.step < kStep - 1) {
      EXPECT_EQ(part.times, 1) << part.Text();
    } else if (part.step == kStep - 1) {
      EXPECT_LE(part.times, 1) << part.Text();
    } else {
      EXPECT_EQ(part.times, 0) << part.Text();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Strategies, LostWorkerLedger, ::testing::Values("ps-async", "ps-ssp"),
                         [](const auto& run) {
                           std::string name = run.param;
                           std::erase(name, '-');
                           return name;
                         });

TEST(UpdateLedger, TellsHowOftenAnUpdateWasApplied) {
  std::vector<float> params(kLedgerTensors * kLedgerSamples);
  params[kLedgerSamples + 5] = -(1 + 2 * 4 + 3 * 16);
  EXPECT_EQ(TimesApplied(params, 1, 5, 0), 1);
  EXPECT_EQ(TimesApplied(params, 1, 5, 1), 2);
  EXPECT_EQ(TimesApplied(params, 1, 5, 2), 3);
  EXPECT_EQ(TimesApplied(params, 1, 5, 3), 0);
  EXPECT_EQ(TimesApplied(params, 0, 5, 0), 0);
  params[0] = 0.5;
  EXPECT_THROW(TimesApplied(params, 0, 0, 0), std::runtime_error);
}

}  // namespace
}  // namespace ringside

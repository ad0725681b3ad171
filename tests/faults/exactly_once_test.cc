// Every gradient is applied exactly once, whatever dies meanwhile: jobs of real processes whose
// parameters count updates.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "ringside/common/data/sampler.h"
#include "ringside/experiments/checkpoint/params_file.h"
#include "ringside/experiments/job/launcher/run_job.h"
#include "tests/common/temporary_directory.h"
#include "tests/experiments/job/job_testing.h"
#include "tests/faults/update_ledger.h"

namespace ringside {
namespace {

constexpr int kWorkers = 3;
constexpr std::int64_t kEpochs = 2;

class ExactlyOnceTest : public ::testing::Test {
 protected:
  JobOutcome Run(const RunSpec& spec, OnFailure on_failure) {
    const std::string bundle = directory_.Path("run");
    const JobOutcome outcome = RunJob(spec, {.bundle_dir = bundle,
                                             .show_progress = false,
                                             .echo_logs = false,
                                             .program = ProgramWithFaults(),
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

/// A fault in step 10, what it is to be called, and the kind of the failure that it makes.
struct StepFault {
  const char* name;
  const char* fault;
  const char* kind;
};

constexpr std::array kFaultsOfAll{
    StepFault{"no_fault", "kill@any:step1000", ""},
    StepFault{"killed_with_parameters", "kill@any:step10:bucket.awaited:bucket2", "signal"},
    StepFault{"killed_before_the_first_push", "kill@any:step10:bucket.ready:bucket0", "signal"},
    StepFault{"killed_after_the_first_push", "kill@any:step10:bucket.submitted:bucket0", "signal"},
    StepFault{"killed_after_the_last_push", "kill@any:step10:bucket.submitted:bucket2", "signal"},
};
constexpr std::array kFaultsOfServers{
    StepFault{"server_killed_before_its_answer", "kill@server0:step10:shard.applied", "signal"},
    StepFault{"server_answers_late", "stall@server0:step10:shard.applied", ""},
};

using StrategyAndFault = std::tuple<std::string, StepFault>;

void PrintTo(const StrategyAndFault& run, std::ostream* out) {
  *out << std::get<0>(run) << " " << std::get<1>(run).fault;
}

std::string NameOf(const ::testing::TestParamInfo<StrategyAndFault>& run) {
  std::string name = std::get<0>(run.param) + "_" + std::get<1>(run.param).name;
  std::ranges::replace(name, '-', '_');
  return name;
}

class FaultInAStep : public ExactlyOnceTest,
                     public ::testing::WithParamInterface<StrategyAndFault> {};

TEST_P(FaultInAStep, ARestartedRunAppliesEachGradientOnce) {
  const auto& [strategy, planned] = GetParam();
  RunSpec spec = LedgerSpec(strategy, kWorkers, kEpochs);
  spec.checkpoint_every = 4;
  const ScopedVariable fault("RINGSIDE_FAULT", planned.fault);
  const ScopedVariable once("RINGSIDE_FAULT_ONCE", directory_.Path("struck"));
  const std::string kind = planned.kind;
  const JobOutcome outcome = Run(spec, OnFailure::kRestart);
  ASSERT_EQ(outcome.status, JobStatus::kDone) << outcome.error;
  EXPECT_EQ(std::filesystem::exists(directory_.Path("struck")),
            std::string_view(planned.name) != "no_fault");
  ASSERT_EQ(outcome.summary["restarts"], kind.empty() ? 0 : 1);
  if (!kind.empty()) {
    EXPECT_EQ(outcome.summary["failed_generations"][0]["failure"]["kind"], kind)
        << outcome.summary["failed_generations"];
  }
  ExpectEachOnce(spec);
}

INSTANTIATE_TEST_SUITE_P(All, FaultInAStep,
                         ::testing::Combine(::testing::Values("ring", "halving-doubling", "tree",
                                                              "shm", "hierarchical", "ps-sync",
                                                              "ps-async", "ps-ssp", "mixed"),
                                            ::testing::ValuesIn(kFaultsOfAll)),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(Servers, FaultInAStep,
                         ::testing::Combine(::testing::Values("ps-sync", "ps-async", "ps-ssp",
                                                              "mixed"),
                                            ::testing::ValuesIn(kFaultsOfServers)),
                         NameOf);

// These take as long as a lease.
INSTANTIATE_TEST_SUITE_P(Frozen, FaultInAStep,
                         ::testing::Combine(::testing::Values("ring", "ps-async"),
                                            ::testing::Values(StepFault{
                                                "frozen_after_the_first_push",
                                                "freeze@rank1:step10:bucket.submitted:bucket0",
                                                "lost"})),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(FrozenServer, FaultInAStep,
                         ::testing::Combine(::testing::Values("ps-sync"),
                                            ::testing::Values(StepFault{
                                                "server_frozen_before_its_answer",
                                                "freeze@server0:step10:shard.applied", "lost"})),
                         NameOf);

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

}  // namespace
}  // namespace ringside

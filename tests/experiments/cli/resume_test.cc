// A run that is interrupted and resumed has the parameters of one that was not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <ostream>
#include <string>

#include "ringside/experiments/checkpoint/params_file.h"
#include "ringside/experiments/verify/equivalence.h"
#include "tests/experiments/cli/ringside_process.h"

namespace ringside {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

// 12 steps, with a checkpoint after every fourth. Several buckets.
constexpr char kRun[] =
    "train --model mlp --hidden 32 --data digits --steps 12 --global-batch 24 --bucket-mb 1KiB "
    "--checkpoint-every 4 --keep 0 --save-params --json --quiet ";

struct ResumeCase {
  const char* name;
  const char* flags;
  int workers = 2;
};

void PrintTo(const ResumeCase& resume_case, std::ostream* out) { *out << resume_case.name; }

/// A run, and another one that goes on from its checkpoint in another way.
struct ChangeCase {
  const char* name;
  const char* before;
  const char* after;
};

void PrintTo(const ChangeCase& change, std::ostream* out) { *out << change.name; }

class ResumeRunTest : public RingsideProcessTest {
 protected:
  json Train(const std::string& flags) const {
    const ProcessResult result = RunRingside(kRun + flags);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    const json summary = json::parse(result.out, nullptr, false);
    return summary.is_object() ? summary : json::object();
  }
};

class ResumeTest : public ResumeRunTest, public ::testing::WithParamInterface<ResumeCase> {};

TEST_P(ResumeTest, EndsWithTheSameBits) {
  const std::string flags =
      "--workers " + std::to_string(GetParam().workers) + " " + GetParam().flags;
  const json whole = Train("--out whole " + flags);
  const json resumed = Train("--out rest --resume whole/checkpoints/step-4.ckpt " + flags);
  EXPECT_EQ(resumed["first_step"], 4);
  EXPECT_EQ(resumed["steps"], 12);
  EXPECT_EQ(resumed["params_sha256"], whole["params_sha256"]);
  EXPECT_THAT(resumed["notes"].dump(), Not(HasSubstr("resumed without")));
}

INSTANTIATE_TEST_SUITE_P(
    Strategies, ResumeTest,
    ::testing::Values(
        ResumeCase{"ring", "--strategy ring --momentum 0.9"},
        ResumeCase{"tree", "--strategy tree --momentum 0.9", 3},
        ResumeCase{"recursive_doubling", "--strategy recursive-doubling --momentum 0.9", 3},
        ResumeCase{"hierarchical", "--strategy hierarchical --hosts 2 --momentum 0.9", 4},
        ResumeCase{"mixed", "--strategy mixed --servers 1 --momentum 0.9"},
        ResumeCase{"workers_update",
                   "--strategy ps-sync --servers 2 --server-update off "
                   "--momentum 0.9"},
        ResumeCase{"topk", "--strategy ring --codec topk:0.05 --momentum 0.9"},
        ResumeCase{"powersgd", "--strategy ring --codec powersgd:2"},
        ResumeCase{"int8", "--strategy halving-doubling --codec int8"},
        ResumeCase{"sign", "--strategy ps-sync --servers 2 --codec sign --momentum 0.9"},
        ResumeCase{"adam", "--strategy shm --optimizer adam --lr 0.01"},
        ResumeCase{"local_sgd", "--strategy local-sgd --sync-every 3 --momentum 0.9"},
        ResumeCase{"diloco", "--strategy diloco --sync-every 3 --momentum 0.9"}),
    [](const auto& suite_case) { return std::string(suite_case.param.name); });

class ChangedResumeTest : public ResumeRunTest, public ::testing::WithParamInterface<ChangeCase> {};

TEST_P(ChangedResumeTest, FollowsTheSameTrajectory) {
  const std::string learning = " --momentum 0.9 --lr 0.002";
  Train(std::string("--out whole ") + GetParam().before + learning);
  Train(std::string("--out rest --resume whole/checkpoints/step-4.ckpt ") + GetParam().after +
        learning);
  const double difference = RelativeDifference(ReadParams(scratch() + "/rest/params.bin"),
                                               ReadParams(scratch() + "/whole/params.bin"));
  EXPECT_LT(difference, 1e-5);
}

INSTANTIATE_TEST_SUITE_P(
    StrategiesAndWorkers, ChangedResumeTest,
    ::testing::Values(
        ChangeCase{"ring_to_servers", "--strategy ring --workers 2",
                   "--strategy ps-sync --servers 2 --workers 3"},
        ChangeCase{"servers_to_hierarchy", "--strategy ps-sync --servers 2 --workers 2",
                   "--strategy hierarchical --hosts 2 --workers 4"},
        ChangeCase{"fewer_workers", "--strategy ring --workers 4", "--strategy ring --workers 2"}),
    [](const auto& suite_case) { return std::string(suite_case.param.name); });

TEST_F(ResumeRunTest, StateWithoutAnOwnerIsNoted) {
  Train("--out whole --strategy ring --workers 2 --codec topk:0.05");
  const json resumed = Train(
      "--out rest --resume whole/checkpoints/step-8.ckpt --strategy ring --workers 3 "
      "--codec topk:0.05");
  EXPECT_EQ(resumed["first_step"], 8);
  EXPECT_THAT(resumed["notes"].dump(), HasSubstr("resumed without residual"));
}

}  // namespace
}  // namespace ringside

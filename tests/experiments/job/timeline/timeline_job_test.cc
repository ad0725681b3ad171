// Tests timelines and stragglers of whole runs, with all their processes. `ringside` lies beside
// this test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ringside/experiments/job/launcher/run_job.h"
#include "ringside/experiments/spec/resolve/resolve.h"
#include "ringside/experiments/spec/spec_keys.h"
#include "ringside/experiments/system/files/files.h"
#include "ringside/experiments/system/processes/process.h"
#include "tests/common/temporary_directory.h"
#include "tests/experiments/job/job_testing.h"
#include "tests/experiments/job/timeline/trace_testing.h"

namespace ringside {
namespace {

using nlohmann::json;
using ::testing::IsSupersetOf;

constexpr int kSteps = 6;

class TimelineJobTest : public ::testing::Test {
 protected:
  std::string bundle() const { return directory_.path() + "/bundle"; }

  JobOutcome Run(const RunSpec& spec) {
    return RunJob(spec, {.bundle_dir = bundle(),
                         .show_progress = false,
                         .echo_logs = false,
                         .program = RingsideProgram()});
  }

  static json Trace(const std::string& path) { return json::parse(ReadFile(path, 64 << 20)); }

  static json ProcessOf(const json& trace, const std::string& name) {
    for (const json& process : trace.at("otherData").at("processes")) {
      if (process.at("name") == name) return process;
    }
    return nullptr;
  }

  /// Names of the spans that a process has in some lane ("server queue"), all of them when empty.
  static std::set<std::string> SpansOf(const json& trace, const std::string& process,
                                       const std::string& lane = {}) {
    const int id = ProcessOf(trace, process).at("pid");
    const auto lanes = ThreadNames(trace);
    std::set<std::string> names;
    for (const json& event : EventsOf(trace, "X")) {
      const std::pair<int, int> thread(event.at("pid"), event.at("tid"));
      if (thread.first == id && lanes.at(thread).starts_with(lane)) names.insert(event.at("name"));
    }
    return names;
  }

  std::vector<json> Lines(const std::string& name) const {
    std::ifstream file(bundle() + "/" + name);
    std::vector<json> lines;
    for (std::string line; std::getline(file, line);) lines.push_back(json::parse(line));
    return lines;
  }

  const TemporaryDirectory directory_;
};

struct Case {
  std::string name;
  std::map<std::string, std::string> keys;
  std::set<std::string> worker_spans;
};

class TimelineOfEveryKindTest : public TimelineJobTest,
                                public ::testing::WithParamInterface<Case> {};

TEST_P(TimelineOfEveryKindTest, ShowsEveryProcessAndEveryPhase) {
  RunSpec spec = ProfileSpec("ring", 2, kSteps);
  for (const auto& [key, value] : GetParam().keys) SetSpecKey(spec, key, value);
  spec.timeline = true;
  spec = Resolve(spec);
  const JobOutcome outcome = Run(spec);
  ASSERT_EQ(outcome.status, JobStatus::kDone) << outcome.error;
  const json trace = Trace(bundle() + "/trace.json");
  ExpectWellFormed(trace);
  EXPECT_EQ(trace.at("otherData").at("dropped_spans"), 0);
  for (const char* worker : {"worker 0", "worker 1"}) {
    EXPECT_THAT(SpansOf(trace, worker, "compute"),
                IsSupersetOf({"data", "forward", "backward", "submit", "await"}));
    EXPECT_THAT(SpansOf(trace, worker), IsSupersetOf(GetParam().worker_spans));
    const json process = ProcessOf(trace, worker);
    EXPECT_EQ(process.at("covered_steps"), json({0, kSteps - 1}));
    EXPECT_EQ(process.at("clock").at("readings").size(), 2) << "at the start and at the end";
    EXPECT_EQ(process.at("clock").at("shared"), true) << process;
  }
  const int servers = outcome.summary["dedicated_servers"];
  for (int index = 0; index < servers; ++index) {
    const std::string server = "server " + std::to_string(index);
    EXPECT_THAT(SpansOf(trace, server, "server"), IsSupersetOf({"queue", "reduce", "apply"}));
  }
  if (outcome.summary["colocated"] == true) {
    EXPECT_THAT(SpansOf(trace, "worker 1", "server"), IsSupersetOf({"queue", "reduce", "apply"}));
  }
}

TEST_P(TimelineOfEveryKindTest, SaysWhereTheTimeOfAStepWent) {
  RunSpec spec = ProfileSpec("ring", 2, kSteps);
  for (const auto& [key, value] : GetParam().keys) SetSpecKey(spec, key, value);
  spec.timeline = true;
  spec = Resolve(spec);
  const JobOutcome outcome = Run(spec);
  ASSERT_EQ(outcome.status, JobStatus::kDone) << outcome.error;
  const std::vector<json> lines = Lines("critical_path.jsonl");
  ASSERT_EQ(lines.size(), std::size_t{kSteps});
  for (const json& line : lines) {
    double sum = 0;
    for (const char* part : {"compute_ms", "exposed_comm_ms", "straggler_wait_ms",
                             "server_queue_ms", "codec_ms", "data_ms", "other_ms"}) {
      EXPECT_GE(line.at(part), -0.01) << line;
      sum += line.at(part).get<double>();
    }
    EXPECT_NEAR(sum, line.at("step_ms").get<double>(), 1e-6);
    EXPECT_EQ(line.at("source"), "timeline") << line;
  }
  EXPECT_EQ(outcome.summary["critical_path"]["source"], "timeline");
  EXPECT_GT(outcome.summary["critical_path"]["compute_ms"], 0);
}

INSTANTIATE_TEST_SUITE_P(
    Strategies, TimelineOfEveryKindTest,
    ::testing::Values(
        Case{"Ring", {}, {"queue", "wire", "apply"}},
        Case{"Shm", {{"strategy", "shm"}}, {"queue", "apply", "wire"}},
        Case{"Codec", {{"codec", "int8"}}, {"queue", "wire", "apply", "codec"}},
        Case{"Servers", {{"strategy", "ps-sync"}, {"servers", "2"}}, {"queue", "wire"}},
        Case{"Colocated",
             {{"strategy", "ps-sync"}, {"servers", "colocated"}, {"codec", "fp16"}},
             {"queue", "wire", "codec", "reduce", "apply"}}),
    [](const auto& suite_case) { return suite_case.param.name; });

TEST_F(TimelineJobTest, ShowsTheStepsAskedForInTheFileAskedFor) {
  RunSpec spec = ProfileSpec("ring", 2, kSteps);
  SetSpecKey(spec, "timeline-steps", "3:5");
  SetSpecKey(spec, "timeline-filename", directory_.path() + "/here.json");
  const JobOutcome outcome = Run(Resolve(spec));
  ASSERT_EQ(outcome.status, JobStatus::kDone) << outcome.error;
  EXPECT_FALSE(std::filesystem::exists(bundle() + "/trace.json"));
  const json trace = Trace(directory_.path() + "/here.json");
  ExpectWellFormed(trace);
  EXPECT_EQ(trace.at("otherData").at("steps"), "3:5");
  std::set<int> shown;
  for (const json& event : EventsOf(trace, "X")) {
    if (event.at("name") == "await") shown.insert(event.at("args").at("step").get<int>());
  }
  EXPECT_EQ(shown, (std::set{3, 4}));
  EXPECT_EQ(outcome.summary["critical_path"]["steps"], 2) << "those whose spans are there";
}

TEST_F(TimelineJobTest, IsATraceOfWhatCameBeforeAWorkerWasKilled) {
  RunSpec spec = ProfileSpec("ring", 2, 100'000);
  spec.timeline = true;
  auto run = std::async(std::launch::async, [&] { return Run(spec); });
  constexpr int kSeen = 20;
  WaitUntil("steps", [&] { return CommonStepsIn(bundle()) >= kSeen; });
  ::kill(PidIn(bundle(), "worker 1"), SIGKILL);
  const JobOutcome outcome = run.get();
  EXPECT_EQ(outcome.status, JobStatus::kFailed);
  const json trace = Trace(bundle() + "/trace.json");
  ExpectWellFormed(trace);
  EXPECT_EQ(trace.at("otherData").at("status"), "failed");
  for (const char* worker : {"worker 0", "worker 1"}) {
    const json covered = ProcessOf(trace, worker).at("covered_steps");
    EXPECT_EQ(covered.at(0), 0);
    EXPECT_GE(covered.at(1), kSeen - 1) << "spans come before the records of their steps";
  }
  EXPECT_GE(Lines("critical_path.jsonl").size(), std::size_t{kSeen});
}

/// Rank `rank` of two, in a process of its own. `before`: what starts it.
Process StartRank(int rank, const std::string& directory, const std::vector<std::string>& before) {
  std::vector<std::string> argv{"/usr/bin/env",
                                "RANK=" + std::to_string(rank),
                                "WORLD_SIZE=2",
                                "LOCAL_RANK=" + std::to_string(rank),
                                "MASTER_ADDR=127.0.0.1",
                                "MASTER_PORT=29511",
                                "XDG_RUNTIME_DIR=" + directory};
  argv.insert(argv.end(), before.begin(), before.end());
  for (const char* word : {"train", "--strategy", "ring", "--model", "profile:mobilenet-v2",
                           "--compute-ms", "5", "--steps", "5", "--timeline", "--out"}) {
    if (std::string_view(word) == "train") {
      argv.push_back(DirectoryOfThisExecutable() + "/ringside");
    }
    argv.push_back(word);
  }
  argv.push_back(directory + "/bundle");
  return Process({.argv = argv});
}

/// When a bucket's gradient was submitted or when its sum was there, in microseconds.
std::map<std::pair<int, int>, double> Moments(const json& trace, int process, const char* span,
                                              bool end) {
  std::map<std::pair<int, int>, double> moments;
  for (const json& event : EventsOf(trace, "X")) {
    if (event.at("pid") != process || event.at("name") != span) continue;
    const json& arguments = event.at("args");
    moments[{arguments.at("step"), arguments.at("bucket")}] =
        event.at("ts").get<double>() + (end ? event.at("dur").get<double>() : 0);
  }
  return moments;
}

// Rank 1 lives in a time namespace, as on another host: its clock is 5,000 seconds ahead.
TEST_F(TimelineJobTest, BringsTheClocksOfHostsTogether) {
  const std::vector<std::string> elsewhere{"unshare", "--time", "--fork", "--monotonic", "5000"};
  if (std::system("unshare --time --fork --monotonic 5000 true 2>/dev/null") != 0) {
    GTEST_SKIP() << "no time namespaces here: they need root and a kernel that has them";
  }
  Process second = StartRank(1, directory_.path(), elsewhere);
  Process first = StartRank(0, directory_.path(), {});
  WaitUntil("the end of both ranks",
            [&] { return first.Poll().has_value() && second.Poll().has_value(); });
  ASSERT_EQ(first.Poll()->code, 0);
  ASSERT_EQ(second.Poll()->code, 0);
  const json trace = Trace(bundle() + "/trace.json");
  ExpectWellFormed(trace);
  EXPECT_EQ(ProcessOf(trace, "worker 0").at("clock").at("shared"), true);
  const json clock = ProcessOf(trace, "worker 1").at("clock");
  EXPECT_EQ(clock.at("shared"), false);
  ASSERT_EQ(clock.at("readings").size(), 2);
  double uncertainty = 0;
  for (const json& reading : clock.at("readings")) {
    const double wrong = std::abs(reading.at("offset_us").get<double>() + 5e9);
    EXPECT_LE(wrong, reading.at("uncertainty_us").get<double>() + 0.001) << clock;
    uncertainty = std::max(uncertainty, reading.at("uncertainty_us").get<double>());
  }
  // A sum cannot be complete before the other rank has submitted its gradient.
  for (const int rank : {0, 1}) {
    const auto summed = Moments(trace, rank, "wire", true);
    const auto submitted = Moments(trace, 1 - rank, "submit", false);
    EXPECT_EQ(summed.size(), submitted.size());
    for (const auto& [bucket, at] : summed) EXPECT_GE(at, submitted.at(bucket) - uncertainty);
  }
}

TEST_F(TimelineJobTest, AStragglerIsSlowedAndTheOthersWaitForIt) {
  RunSpec spec = ProfileSpec("ring", 2, kSteps);
  SetSpecKey(spec, "straggler", "kind=permanent,factor=3,worker=1");
  const JobOutcome outcome = Run(Resolve(spec));
  ASSERT_EQ(outcome.status, JobStatus::kDone) << outcome.error;
  for (const json& line : Lines("metrics.jsonl")) EXPECT_EQ(line.at("straggler_ms"), 0);
  for (const json& line : Lines("metrics-rank-1.jsonl")) {
    EXPECT_EQ(line.at("straggler_ms"), 10);               // compute_ms is 5
    EXPECT_GE(line.at("forward_ms").get<double>(), 4.9);  // a third of the 15
    // The emulated accelerator goes on during Submit.
    EXPECT_GE(line.at("compute_ms").get<double>() + line.at("submit_ms").get<double>(), 14.9);
  }
  EXPECT_EQ(outcome.summary["straggler_ms"], 5);
  EXPECT_EQ(outcome.summary["critical_path"]["source"], "step records");
  EXPECT_GT(outcome.summary["critical_path"]["straggler_wait_ms"], 0);
  EXPECT_FALSE(std::filesystem::exists(bundle() + "/critical_path.jsonl"));
}

}  // namespace
}  // namespace ringside

#include "ringside/experiments/job/summary/summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>
#include <sstream>
#include <string>

#include "ringside/common/codec/codec_table.h"
#include "ringside/experiments/job/summary/environment_record.h"
#include "ringside/experiments/job/summary/timeline_files.h"
#include "ringside/experiments/job/watch/progress.h"
#include "ringside/experiments/statistics/step_statistics.h"
#include "ringside/paramserver/transports/transport_table.h"
#include "ringside/ring/strategies/periodic_rule.h"
#include "tests/common/temporary_directory.h"
#include "tests/experiments/job/job_testing.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;

StepRecord Step(std::int64_t step, double step_ms, double exposed_ms) {
  return {.step = step,
          .step_ms = step_ms,
          .compute_ms = 1,
          .submit_ms = 3,
          .exposed_comm_ms = exposed_ms,
          .loss_sum = 8,
          .samples = 4};
}

TEST(Quantile, InterpolatesBetweenNeighbours) {
  EXPECT_FALSE(Quantile({}, 0.5));
  EXPECT_EQ(Quantile({7}, 0.9), 7);
  EXPECT_EQ(Quantile({4, 1, 3, 2}, 0.5), 2.5);
  EXPECT_EQ(Quantile({0, 10}, 0.1), 1);
}

TEST(Statistics, TakesTheSlowestRankOfEachStepAfterTheWarmup) {
  const std::vector<std::vector<StepRecord>> ranks{
      {Step(0, 5, 0), Step(1, 10, 2), Step(2, 20, 4), Step(3, 30, 6), Step(4, 70, 40)},
      {Step(0, 5, 0), Step(1, 12, 4), Step(2, 18, 6), Step(3, 28, 8), Step(4, 80, 50),
       Step(5, 9, 0)},
  };
  // The last that both have done waits for two communications, the first for none.
  const StepStatistics statistics = Summarize(ranks, 1);
  EXPECT_EQ(statistics.steps, 4);
  EXPECT_EQ(statistics.step_ms_median, 20);
  EXPECT_EQ(statistics.exposed_comm_ms, 5);
  EXPECT_EQ(statistics.submit_ms, 3);
  // 2 ranks x 3 steps x 4 samples in the 60 ms of rank 0.
  EXPECT_DOUBLE_EQ(*statistics.samples_per_s, 24 / 0.060);
  EXPECT_EQ(Summarize(ranks, 0).step_ms_median, 20);  // with both ends
  EXPECT_EQ(Summarize(ranks, 4).step_ms_median, 80);  // there is no other
  EXPECT_EQ(statistics.final_loss, 2);
}

TEST(Statistics, AreAbsentWithoutSteps) {
  EXPECT_FALSE(Summarize({}, 3).step_ms_median);
  const std::vector<std::vector<StepRecord>> ranks{{Step(0, 1, 1)}, {}};
  EXPECT_FALSE(Summarize(ranks, 0).step_ms_median);
}

nlohmann::json Report(double bytes) {
  return {{"steps_done", 4},
          {"first_step", 0},
          {"total_steps", 4},
          {"completed", true},
          {"train_seconds", 0.1},
          {"parameters", 1000},
          {"buckets", 2},
          {"gradient_wire_bytes", 4000},
          {"parameter_wire_bytes", 4000},
          {"bucket_elements", {750, 250}},
          {"ready_shares", nullptr},
          {"facts", {{"slices", 2}, {"slice_bytes", 3000}, {"busiest_link_bytes", 8000.0}}},
          {"emulated_compute_ms", 5.0},
          {"cpu_seconds", 1.5},
          {"peak_rss_bytes", 1000},
          {"socket_bytes_sent", bytes},
          {"socket_bytes_received", bytes},
          {"payload_bytes_sent", bytes},
          {"payload_bytes_received", bytes},
          {"staleness", nlohmann::json::object()},
          {"server", nullptr},
          {"params_sha256", "abc"}};
}

RunRecord MakeRun() {
  RunRecord run;
  run.spec = ProfileSpec("ps-async", 2, 4);
  run.spec.link_bits_per_s = 1e9;
  run.status = "done";
  run.workers = {{"a", {Step(0, 9, 1), Step(1, 9, 1)}, Report(4000)},
                 {"b", {Step(0, 9, 1), Step(1, 9, 1)}, Report(8000)}};
  run.server_reports = {{{"payload_bytes_received", 16000},
                         {"payload_bytes_sent", 16000},
                         {"updates", 8},
                         {"staleness", {{"0", 3}, {"2", 1}}},
                         {"cpu_seconds", 0.5},
                         {"peak_rss_bytes", 500}}};
  return run;
}

TEST(Summary, HasWhatTheDesignLists) {
  const nlohmann::json summary = MakeSummary(MakeRun());
  std::istringstream keys(
      "schema run_id strategy family model dataset workers servers hosts network "
      "parameters seed repetition steps epochs global_batch step_ms compute_ms "
      "exposed_comm_ms samples_per_s bytes_sent_per_worker bytes_received_per_worker "
      "bytes_per_server bound_ms bound_ratio achievable achievable_ms "
      "achievable_ratio staleness final_loss eval_accuracy params_sha256 cpu_seconds "
      "peak_rss_bytes emulated_compute status error ");
  for (std::string key; keys >> key;) {
    EXPECT_TRUE(summary.contains(key)) << key;
  }
  EXPECT_EQ(summary["hosts"], 2);
  EXPECT_EQ(summary["bytes_sent_per_worker"], 6000);
  EXPECT_EQ(summary["bytes_sent_per_worker_per_step"], 1500);
  EXPECT_EQ(summary["bytes_sent_by_worker"], nlohmann::json({4000, 8000}));
  EXPECT_EQ(summary["bytes_per_server"], 16000);
  EXPECT_EQ(summary["staleness"]["histogram"]["2"], 1);
  EXPECT_EQ(summary["staleness"]["mean"], 0.5);
  EXPECT_EQ(summary["staleness"]["max"], 2);
  EXPECT_EQ(summary["cpu_seconds"]["workers"], 3);
  EXPECT_EQ(summary["cpu_seconds"]["servers"], 0.5);
  EXPECT_EQ(summary["peak_rss_bytes"], 2500);
  EXPECT_TRUE(summary["error"].is_null());
  EXPECT_TRUE(summary["eval_accuracy"].is_null());
}

TEST(Summary, TheBoundIsTheLongerOfComputeAndCommunication) {
  RunRecord run = MakeRun();
  EXPECT_EQ(MakeSummary(run)["bound_ms"], 5);  // 4 kB take 33 us on 1 Gbit/s
  run.spec.link_bits_per_s = 1e6;
  const nlohmann::json slow = MakeSummary(run);
  EXPECT_EQ(slow["bound_ms"], slow["bound_comm_ms"]);
  EXPECT_GT(slow["bound_ms"], 33);
  run.spec.link_bits_per_s = 0;
  EXPECT_TRUE(MakeSummary(run)["bound_ms"].is_null());
  EXPECT_GT(MakeSummary(run)["bound_bytes_sent_per_worker_per_step"], 0);
}

TEST(Summary, ServersThatNoLinkLeadsToHaveNoBoundOfLinks) {
  RunRecord run = MakeRun();
  run.spec.link_bits_per_s = 1e6;
  for (WorkerRecord& worker : run.workers) worker.host = "a";
  EXPECT_GT(MakeSummary(run)["bound_comm_ms"], 33);
  for (const char* transport : {"uds", "shm"}) {
    run.spec.options.Set(kPsTransport, transport);
    const nlohmann::json summary = MakeSummary(run);
    EXPECT_EQ(summary["bound_comm_ms"], 0);
    EXPECT_EQ(summary["bound_ms"], 5) << "compute's";
    EXPECT_EQ(summary["bound_bytes_sent_per_worker_per_step"], 0);
    EXPECT_GT(summary["bound_bytes_per_server_per_step"], 0);
  }
  run.spec.network = ParseNetwork("hosts=1,rate=1Mbps,servers=workers");
  EXPECT_EQ(MakeSummary(run)["bound_comm_ms"], 0);
  run.spec.strategy = "shm";
  run.spec.servers = 0;
  EXPECT_EQ(MakeSummary(run)["bound_comm_ms"], 0);
}

TEST(Summary, TellsHowBytesTravel) {
  RunRecord run = MakeRun();  // on two hosts
  const auto transport = [&](const char* strategy) {
    run.spec.strategy = strategy;
    return MakeSummary(run)["transport"];
  };
  EXPECT_EQ(transport("ps-async"), "tcp");
  EXPECT_EQ(transport("ring"), "tcp");
  EXPECT_EQ(transport("hierarchical"), "tcp");
  EXPECT_TRUE(transport("none").is_null());
  for (WorkerRecord& worker : run.workers) worker.host = "a";
  EXPECT_EQ(transport("hierarchical"), "shm");
}

TEST(Summary, TheAchievableStepIsOfWhatWorkersTellOfTheirBuckets) {
  RunRecord run = MakeRun();
  run.spec.strategy = "ps-sync";
  run.spec.link_bits_per_s = 1e6;
  for (WorkerRecord& worker : run.workers) {
    worker.report["ready_shares"] = {0.5, 1};
    // Slowed, so that compute took four times the 5 ms of the bound: a third of it is forward.
    for (StepRecord& step : worker.steps) {
      step.compute_ms = 20;
      step.forward_ms = 20.0 / 3;
    }
  }
  const auto part = [&](const char* key) {
    return MakeSummary(run)["achievable"][key].get<double>();
  };
  const double server_ms = MakeSummary(run)["bound_comm_ms"].get<double>();  // 8 kB over its link
  EXPECT_NEAR(part("compute_ms"), 5.0 / 3, 1e-9);
  EXPECT_NEAR(part("readiness_ms"), 5.0 / 3, 1e-9) << "half of the backward pass";
  EXPECT_NEAR(part("tail_ms"), server_ms / 4, 1e-6) << "of the last bucket";
  EXPECT_NEAR(part("uneven_ms"), 0, 1e-6);
  EXPECT_NEAR(part("step_ms"), 10.0 / 3 + 1.25 * server_ms, 1e-6);
  EXPECT_EQ(MakeSummary(run)["achievable_ms"], part("step_ms"));
  EXPECT_NEAR(MakeSummary(run)["achievable_ratio"].get<double>(), 9 / part("step_ms"), 1e-9);
  run.workers[0].report["facts"]["busiest_link_bytes"] = 9000.0;
  EXPECT_NEAR(part("uneven_ms"), server_ms / 8, 1e-6);
  run.workers[0].report["facts"].update(
      {{"slices", 8}, {"slice_bytes", 500}, {"window_bytes", 600}, {"slice_limit_bytes", 0}});
  EXPECT_NEAR(part("tail_ms"), server_ms / 4, 1e-6) << "servers get whole buckets";
  run.workers[0].report["facts"]["slice_limit_bytes"] = 500;
  EXPECT_NEAR(part("tail_ms"), server_ms * 2 * 500 / 8000, 1e-6) << "N a / B";
  // Buckets that are smaller than a slice may be: each is one slice.
  run.workers[0].report["facts"].update(
      {{"slices", 2}, {"slice_bytes", 3000}, {"window_bytes", 3000}, {"slice_limit_bytes", 4096}});
  EXPECT_NEAR(part("tail_ms"), server_ms * 2 * 3000 / 8000, 1e-6) << "N a / B";
  run.spec.link_bits_per_s = 0;
  EXPECT_TRUE(MakeSummary(run)["achievable"].is_null());
}

TEST(Summary, ThereIsNoBoundWhereNobodyKnowsWhoSendsToWhom) {
  RunRecord run = MakeRun();
  run.spec.strategy = "mpi";  // its library chooses who sends to whom
  const auto summary = [&](const char* network) {
    run.spec.network = ParseNetwork(network);
    return MakeSummary(run);
  };
  EXPECT_FALSE(summary("1Gbps")["bound_ms"].is_null()) << "that of every all-reduce";
  for (const char* network :
       {"hosts=1,rate=1Gbps", "rates=1Gbps:100Mbps", "rate=1Gbps,racks=2,uplink=1Gbps"}) {
    const nlohmann::json unknown = summary(network);
    EXPECT_THAT(unknown["bound_missing"].get<std::string>(), HasSubstr("nobody knows")) << network;
    EXPECT_TRUE(unknown["bound_ms"].is_null()) << network;
    EXPECT_TRUE(unknown["bound_ratio"].is_null()) << network;
    EXPECT_TRUE(unknown["achievable"].is_null()) << network;
  }
}

TEST(Summary, TheUplinksOfRacksAreInTheBound) {
  RunRecord run = MakeRun();
  run.spec.link_bits_per_s = 2e6;
  run.spec.workers = 4;
  for (WorkerRecord& worker : run.workers) worker.report["emulated_compute_ms"] = 0.0;
  const auto comm_ms = [&](const char* strategy, int servers, bool colocated, const char* network) {
    run.spec.strategy = strategy;
    run.spec.servers = servers;
    run.spec.colocated = colocated;
    run.spec.network = ParseNetwork(network);
    return MakeSummary(run)["bound_comm_ms"];
  };
  const auto slowdown = [&](const char* strategy, int servers, bool colocated) {
    const double flat = comm_ms(strategy, servers, colocated, "2Mbps").get<double>();
    return comm_ms(strategy, servers, colocated, "rate=2Mbps,racks=2,uplink=1Mbps").get<double>() /
           flat;
  };
  // A ring has one edge out of each rack: half the rate is twice the time.
  EXPECT_NEAR(slowdown("ring", 0, false), 2, 1e-9);
  EXPECT_NEAR(slowdown("local-sgd", 0, false), 2, 1e-9);
  // Two workers of a rack, each with half of its gradients for the other rack's two servers, and
  // as much for its own two: M out of each rack and M as answers, where a NIC carries 3/2 M.
  EXPECT_NEAR(slowdown("ps-sync", 4, true), 2 / 1.5 * 2, 1e-9);
  // Four workers and four servers in two racks of four hosts: all workers are in one of them, so
  // that 4 M cross the uplink while a worker's NIC carries M.
  EXPECT_NEAR(slowdown("ps-sync", 4, false), 8, 1e-9);
  // Of four ranks the two in a rack send 1/4 of M each to the other rack, and get as much back.
  EXPECT_NEAR(slowdown("halving-doubling", 0, false), 2 / 1.5, 1e-9);
}

TEST(Summary, WhereWorkersStepAloneTheMeanOverWholePeriodsMeetsTheBound) {
  RunRecord run = MakeRun();
  run.spec.strategy = "local-sgd";
  run.spec.servers = 0;
  run.spec.options.Set(kSyncEvery, 4);
  run.spec.warmup_steps = 1;
  for (WorkerRecord& worker : run.workers) {
    worker.steps = {Step(0, 900, 0)};
    for (int step = 1; step <= 10; ++step)
      worker.steps.push_back(Step(step, step % 4 == 3 ? 13 : 5, 0));
    worker.steps[1].step_ms =
        700;  // the one that is over after two whole periods, but for the last
  }
  EXPECT_DOUBLE_EQ(MakeSummary(run)["bound_ratio"].get<double>(), 7.0 / 5);
  run.spec.strategy = "ring";
  EXPECT_DOUBLE_EQ(MakeSummary(run)["bound_ratio"].get<double>(), 1);
  run.spec.strategy = "local-sgd";
  run.spec.options.Set(kSyncEvery, 10);
  EXPECT_TRUE(MakeSummary(run)["bound_ratio"].is_null());  // no whole period
}

TEST(Summary, TellsHowBusyTheMachineWas) {
  RunRecord run = MakeRun();
  EXPECT_TRUE(MakeSummary(run)["machine_busy"].is_null());
  run.workers[0].report["machine_busy"] = 0.75;
  EXPECT_EQ(MakeSummary(run)["machine_busy"], 0.75);
}

TEST(Timeline, AFileThatCannotBeWrittenLeavesTheOtherAlone) {
  const TemporaryDirectory scratch;
  RunRecord run = MakeRun();
  run.spec.timeline = true;
  run.spec.timeline_filename = scratch.path() + "/missing/trace.json";
  run.critical_path.emplace_back();
  std::vector<std::string> warnings;
  WriteTimeline(run, {}, scratch.path(),
                [&](const std::string& warning) { warnings.push_back(warning); });
  EXPECT_THAT(warnings, ::testing::ElementsAre(HasSubstr("there is no timeline: ")));
  EXPECT_TRUE(std::filesystem::exists(scratch.path() + "/critical_path.jsonl"));
}

TEST(Summary, TheBoundIsOfTheBytesThatTheCodecLeaves) {
  RunRecord run = MakeRun();
  const auto sent = [&](const char* strategy, const char* codec, int bytes) {
    run.spec.strategy = strategy;
    run.spec.servers = std::string(strategy) == "ring" ? 0 : 1;
    ParseCodec(codec, BuiltinCodecs(), run.spec.options.codec);
    for (WorkerRecord& worker : run.workers) worker.report["gradient_wire_bytes"] = bytes;
    return MakeSummary(run)["bound_bytes_sent_per_worker_per_step"].get<double>();
  };
  run.spec.workers = 4;
  EXPECT_EQ(sent("ring", "fp32", 4000), 6000);
  EXPECT_EQ(sent("ring", "fp16", 2000), 3000);
  EXPECT_EQ(sent("ring", "topk:0.01", 100), 300);  // gathered
  EXPECT_EQ(sent("ps-sync", "topk:0.01", 100), 100);
  EXPECT_EQ(MakeSummary(run)["codec"], "topk:0.01");
}

TEST(Summary, TellsWhoWasSlowedAndHowLong) {
  RunRecord run = MakeRun();
  EXPECT_EQ(MakeSummary(run)["straggler"], "none");
  EXPECT_EQ(MakeSummary(run)["emulated_straggler"], false);
  run.spec.warmup_steps = 0;
  run.spec.straggler = ParseStraggler("kind=rotating,factor=2,every=1");
  run.workers[0].steps[0].straggler_ms = 4;
  run.workers[1].steps[1].straggler_ms = 6;
  const nlohmann::json summary = MakeSummary(run);
  EXPECT_EQ(summary["straggler"], "kind=rotating,factor=2,every=1");
  EXPECT_EQ(summary["emulated_straggler"], true);
  EXPECT_EQ(summary["straggler_ms"], 2.5);  // over two ranks and two steps
}

TEST(Summary, ARunWithoutReportsHasNulls) {
  RunRecord run = MakeRun();
  run.status = "failed";
  run.error = "worker 1 was killed by signal 9";
  for (WorkerRecord& worker : run.workers) worker.report = nullptr;
  run.server_reports = {nullptr};
  const nlohmann::json summary = MakeSummary(run);
  EXPECT_EQ(summary["status"], "failed");
  EXPECT_EQ(summary["steps"], 2);
  EXPECT_TRUE(summary["bytes_sent_per_worker"].is_null());
  EXPECT_EQ(summary["bytes_sent_by_worker"], nlohmann::json({nullptr, nullptr}));
  EXPECT_TRUE(summary["cpu_seconds"]["workers"].is_null());
  EXPECT_TRUE(summary["params_sha256"].is_null());
  EXPECT_TRUE(summary["bound_ms"].is_null());
}

TEST(Summary, NamesLostWorkersAndLeavesThemOutOfTheFigures) {
  RunRecord run = MakeRun();
  EXPECT_EQ(MakeSummary(run)["lost_workers"], nlohmann::json::array());
  run.workers[1].steps = {Step(0, 90, 1)};
  run.workers[1].report = nullptr;
  run.lost_workers = {{.index = 1,
                       .step = 1,
                       .reason = "worker 1 was killed by signal 9",
                       .last_words = {{"text", "worker 1 has failed"}}}};
  run.warnings = {"worker 1 computes step 1 for 9.0 s"};
  const nlohmann::json summary = MakeSummary(run);
  ASSERT_EQ(summary["lost_workers"].size(), 1U);
  EXPECT_EQ(summary["lost_workers"][0]["worker"], 1);
  EXPECT_EQ(summary["lost_workers"][0]["step"], 1);
  EXPECT_EQ(summary["lost_workers"][0]["reason"], "worker 1 was killed by signal 9");
  EXPECT_EQ(summary["lost_workers"][0]["last_words"],
            (nlohmann::json{{"text", "worker 1 has failed"}}));
  EXPECT_EQ(summary["warnings"], nlohmann::json::array({"worker 1 computes step 1 for 9.0 s"}));
  EXPECT_EQ(summary["workers"], 2);
  EXPECT_EQ(summary["bytes_sent_per_worker"], 4000);
  EXPECT_EQ(summary["cpu_seconds"]["workers"], 1.5);
  EXPECT_EQ(summary["step_ms"]["median"], 9);
}

TEST(Summary, HasTheFidelityOfARunAndOfABench) {
  RunRecord run = MakeRun();
  EXPECT_TRUE(MakeSummary(run).at("fidelity").is_null());
  run.fidelity = {{"verdict", "ok"}};
  EXPECT_EQ(MakeSummary(run).at("fidelity").at("verdict"), "ok");
  EXPECT_EQ(BenchSummary(run).at("fidelity").at("verdict"), "ok");
}

TEST(Summary, ABenchHasTheShortestMedianOfItsSizes) {
  const nlohmann::json report = nlohmann::json::parse(
      R"({"sizes": [{"times_us": [9000, 5000, 4000]}, {"times_us": [3000, 2000, 1000]}]})");
  EXPECT_EQ(BenchStepMs(report), 2);
  EXPECT_FALSE(BenchStepMs(nullptr));
  EXPECT_FALSE(BenchStepMs({{"sizes", nlohmann::json::array()}}));
}

TEST(Summary, AMedianStepIsThatOfTheSummary) {
  RunRecord run = MakeRun();
  EXPECT_EQ(MedianStepMs(run), MakeSummary(run).at("step_ms").at("median").get<double>());
  for (WorkerRecord& worker : run.workers) worker.steps.clear();
  EXPECT_FALSE(MedianStepMs(run));
}

TEST(Progress, TellsStepsRateLossAndTime) {
  Progress progress;
  EXPECT_EQ(progress.Line(), "starting");
  progress.set_total_steps(100);
  const auto begin = Progress::Clock::now();
  const std::vector<StepRecord> first{Step(0, 1, 0)};
  progress.Add(0, first, begin);
  std::vector<StepRecord> more;
  for (int step = 1; step <= 10; ++step) more.push_back(Step(step, 1, 0));
  progress.Add(0, more, begin + std::chrono::seconds(1));
  EXPECT_EQ(progress.Line(), "step 11/100  40 samples/s  loss 2.0000  9 s left");
}

TEST(DurationText, SuitsItsSize) {
  EXPECT_EQ(DurationText(45.4), "45 s");
  EXPECT_EQ(DurationText(200), "3 min 20 s");
  EXPECT_EQ(DurationText(7500), "2 h 5 min");
}

TEST(EnvironmentRecord, ListsVariablesByNameAlone) {
  const nlohmann::json record = EnvironmentRecord({{"OMP_NUM_THREADS", "1"},
                                                   {"RINGSIDE_TOKEN_FILE", "/secret"},
                                                   {"AWS_SECRET_ACCESS_KEY", "hush"}});
  EXPECT_EQ(record["variables"], nlohmann::json({{"OMP_NUM_THREADS", "1"}}));
  EXPECT_THAT(record["kernel"].get<std::string>(), HasSubstr("Linux"));
  EXPECT_GE(record["cores"], 1);
}

}  // namespace
}  // namespace ringside

#include "ringside/experiments/job/timeline/critical_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace ringside {
namespace {

using Records = std::vector<std::vector<StepRecord>>;

constexpr std::int64_t kMs = 1'000'000;

StepRecord Record(std::int64_t step, double compute_ms, double exposed_ms, double submit_ms = 0,
                  double data_ms = 1, double other_ms = 0.5) {
  StepRecord record;
  record.step = step;
  record.compute_ms = compute_ms;
  record.exposed_comm_ms = exposed_ms;
  record.submit_ms = submit_ms;
  record.data_ms = data_ms;
  record.step_ms = compute_ms + exposed_ms + submit_ms + data_ms + other_ms;
  return record;
}

double Sum(const CriticalStep& step) {
  return step.compute_ms + step.exposed_comm_ms + step.straggler_wait_ms.value_or(0) +
         step.server_queue_ms.value_or(0) + step.codec_ms.value_or(0) + step.data_ms +
         step.other_ms;
}

TraceSpan Span(SpanKind kind, double begin_ms, double end_ms, std::int64_t step, int bucket,
               int lane = kComputeLane) {
  const auto ns = [](double ms) { return static_cast<std::int64_t>(ms * kMs); };
  return {ns(begin_ms), ns(end_ms), step, bucket, lane, kind};
}

ProcessTrace Worker(int rank, std::vector<TraceSpan> spans) {
  ProcessTrace trace;
  trace.rank = rank;
  trace.spans = std::move(spans);
  return trace;
}

/// Two ranks and a server; worker 1 computes until 30 ms where worker 0 is ready at 10 ms.
struct StragglerRun {
  Records records{{Record(0, 10, 0), Record(1, 10, 35)}, {Record(0, 30, 0), Record(1, 10, 15)}};
  std::vector<ProcessTrace> traces{
      Worker(0, {Span(SpanKind::kSubmit, 10, 10, 0, 0), Span(SpanKind::kAwait, 10, 45, 1, 0),
                 Span(SpanKind::kSubmit, 55, 55, 1, 0)}),
      Worker(1, {Span(SpanKind::kSubmit, 30, 30, 0, 0), Span(SpanKind::kAwait, 30, 45, 1, 0),
                 Span(SpanKind::kSubmit, 55, 55, 1, 0)}),
      {}};

  CriticalPathInput Input() const { return {.ranks = records, .servers = true, .traces = traces}; }
};

TEST(CriticalPath, OfRecordsSeesTheStragglerInWhatTheOthersWaitLonger) {
  const Records ranks{{Record(4, 10, 27)}, {Record(4, 30, 7)}, {Record(4, 10, 27)}};
  const auto path = CriticalPath({.ranks = ranks});
  ASSERT_EQ(path.size(), 1U);
  EXPECT_EQ(path[0].step, 4);
  EXPECT_DOUBLE_EQ(path[0].step_ms, 38.5);
  EXPECT_NEAR(path[0].compute_ms, 50.0 / 3, 1e-9);
  EXPECT_NEAR(*path[0].straggler_wait_ms, 40.0 / 3, 1e-9);
  EXPECT_NEAR(path[0].exposed_comm_ms, 7, 1e-9);
  EXPECT_EQ(path[0].server_queue_ms, 0) << "there are no servers";
  EXPECT_EQ(path[0].codec_ms, 0) << "there is no codec";
  EXPECT_DOUBLE_EQ(path[0].data_ms, 1);
  EXPECT_DOUBLE_EQ(path[0].other_ms, 0.5);
  EXPECT_FALSE(path[0].from_timeline);
}

TEST(CriticalPath, LeavesOutWhatRecordsCannotTell) {
  const Records ranks{{Record(0, 10, 27, 3)}, {Record(0, 30, 7, 3)}};
  const auto path =
      CriticalPath({.ranks = ranks, .synchronous = false, .servers = true, .codec = true});
  EXPECT_FALSE(path[0].straggler_wait_ms) << "nobody waits for all";
  EXPECT_FALSE(path[0].server_queue_ms);
  EXPECT_FALSE(path[0].codec_ms);
  EXPECT_DOUBLE_EQ(path[0].exposed_comm_ms, 20) << "it holds what cannot be told apart";
  const nlohmann::json json = CriticalPathJson(path, 0);
  EXPECT_TRUE(json["straggler_wait_ms"].is_null());
  EXPECT_TRUE(json["codec_ms"].is_null());
  EXPECT_EQ(json["exposed_comm_ms"], 20);
  EXPECT_EQ(json["source"], "step records");
}

TEST(CriticalPath, OfATimelineEndsTheStragglersShareWhenItsGradientCame) {
  const StragglerRun run;
  const auto path = CriticalPath(run.Input());
  ASSERT_EQ(path.size(), 2U);
  EXPECT_TRUE(path[1].from_timeline);
  EXPECT_DOUBLE_EQ(*path[1].straggler_wait_ms, 10);  // 20 of worker 0, none of worker 1
  EXPECT_DOUBLE_EQ(path[1].exposed_comm_ms, 15);
  EXPECT_EQ(path[1].server_queue_ms, 0);
  EXPECT_EQ(path[1].codec_ms, 0);
}

TEST(CriticalPath, OfATimelineSeesTheServersQueueOfTheAwaitedBucket) {
  StragglerRun run;
  run.traces[2].spans = {
      Span(SpanKind::kQueue, 28, 33, 0, 0, kServerQueueLane),  // 3 of it after the straggler came
      Span(SpanKind::kQueue, 32, 34, 0, 0, kServerQueueLane),  // of the other push: shared moments
      Span(SpanKind::kQueue, 35, 40, 0, 1, kServerQueueLane),  // of another bucket
      Span(SpanKind::kApply, 35, 40, 0, 0, kServerLane)};
  const auto path = CriticalPath(run.Input());
  EXPECT_DOUBLE_EQ(*path[1].server_queue_ms, 4);
  EXPECT_DOUBLE_EQ(path[1].exposed_comm_ms, 11);
  EXPECT_DOUBLE_EQ(*path[1].straggler_wait_ms, 10);
}

TEST(CriticalPath, OfATimelineCountsTheCodecWhereTheCallerPaysForIt) {
  StragglerRun run;
  run.traces[0].spans.push_back(Span(SpanKind::kCodec, 5, 9, 0, 0, kCommunicationLane));  // hidden
  run.traces[0].spans.push_back(Span(SpanKind::kCodec, 25, 32, 0, 0, kCommunicationLane));
  run.traces[1].spans.push_back(Span(SpanKind::kCodec, 44, 46, 1, 0));
  run.traces[2].spans = {Span(SpanKind::kQueue, 31, 32, 0, 0, kServerQueueLane)};
  auto input = run.Input();
  input.codec = true;
  const auto path = CriticalPath(input);
  // Worker 0 from 30 to 31, as the queue has the rest; worker 1 from 44 to 45.
  EXPECT_DOUBLE_EQ(*path[1].codec_ms, 1);
  EXPECT_DOUBLE_EQ(*path[1].server_queue_ms, 1);
  EXPECT_DOUBLE_EQ(path[1].exposed_comm_ms, 13);
}

TEST(CriticalPath, CountsTheCodecInsideSubmit) {
  const Records ranks{{Record(0, 10, 0, 4)}};
  const std::vector<ProcessTrace> traces{
      Worker(0, {Span(SpanKind::kAwait, 0, 0, 0, 0), Span(SpanKind::kSubmit, 10, 14, 0, 0),
                 Span(SpanKind::kCodec, 11, 13, 0, 0)})};
  const auto path = CriticalPath({.ranks = ranks, .codec = true, .traces = traces});
  EXPECT_TRUE(path[0].from_timeline);
  EXPECT_DOUBLE_EQ(*path[0].codec_ms, 2);
  EXPECT_DOUBLE_EQ(path[0].exposed_comm_ms, 2);
}

TEST(CriticalPath, FallsBackToRecordsWhereSpansAreMissing) {
  const auto source = [](const StragglerRun& run) {
    return CriticalPath(run.Input())[1].from_timeline;
  };
  EXPECT_TRUE(source({}));
  StragglerRun no_wait;
  no_wait.traces[1].spans.erase(no_wait.traces[1].spans.begin() + 1);
  EXPECT_FALSE(source(no_wait));
  StragglerRun no_submit;  // of the straggler: nobody knows when its gradient came
  no_submit.traces[1].spans.erase(no_submit.traces[1].spans.begin());
  EXPECT_FALSE(source(no_submit));
  StragglerRun no_worker;
  no_worker.traces.erase(no_worker.traces.begin());
  EXPECT_FALSE(source(no_worker));
}

TEST(CriticalPath, MediansAreOfTimedStepsAndOfTheTimelineWhereThereIsOne) {
  Records ranks{{}};
  for (int step = 0; step < 6; ++step) ranks[0].push_back(Record(step, 10 + step, 2));
  const nlohmann::json json = CriticalPathJson(CriticalPath({.ranks = ranks}), 2);
  EXPECT_EQ(json["steps"], 3);
  EXPECT_EQ(json["compute_ms"], 13);
  EXPECT_EQ(json["other_ms"], 0.5);
  EXPECT_EQ(json["straggler_wait_ms"], 0);
  std::vector<CriticalStep> mixed(5);
  for (std::size_t i = 0; i < mixed.size(); ++i) mixed[i].compute_ms = static_cast<double>(i);
  mixed[3].from_timeline = true;
  EXPECT_EQ(CriticalPathJson(mixed, 1)["compute_ms"], 3);
  EXPECT_EQ(CriticalPathJson(mixed, 1)["source"], "timeline");
  EXPECT_TRUE(CriticalPathJson({}, 0)["compute_ms"].is_null());
  EXPECT_TRUE(CriticalPathJson(mixed, 9)["compute_ms"].is_null());
}

/// A run of random pieces. It checks three properties of the components: they add up, none is
/// negative, and none exceeds its limit.
class RandomRun {
 public:
  explicit RandomRun(unsigned seed) : random_(seed) {
    for (int rank = 0; rank < kRanks; ++rank) AddRank(rank);
    ProcessTrace server;
    for (int i = 0; i < 60; ++i) {
      const double begin = Draw(0, 200);
      server.spans.push_back(Span(SpanKind::kQueue, begin, begin + Draw(0, 9), i % kSteps,
                                  i % kBuckets, kServerQueueLane));
    }
    traces.push_back(server);
  }

  Records records;
  std::vector<ProcessTrace> traces;

 private:
  static constexpr int kRanks = 3;
  static constexpr int kSteps = 6;
  static constexpr int kBuckets = 4;

  double Draw(double least, double most) {
    return std::uniform_real_distribution(least, most)(random_);
  }

  // Advances `now` by a piece and returns how long it was, in whole nanoseconds.
  double Pass(double& now, double most) {
    const double before = now;
    now = std::floor((now + Draw(0, most)) * kMs) / kMs;
    return now - before;
  }

  void AddRank(int rank) {
    std::vector<StepRecord> steps;
    std::vector<TraceSpan> spans;
    double now = 0;
    for (int step = 0; step < kSteps; ++step) {
      StepRecord record = Record(step, 0, 0, 0, Pass(now, 2), Pass(now, 1));
      for (int bucket = 0; bucket < kBuckets; ++bucket) {
        record.compute_ms += Pass(now, 3);
        const double begin = now;
        record.exposed_comm_ms += Pass(now, 8);
        spans.push_back(Span(SpanKind::kAwait, begin, now, step, bucket));
      }
      for (int bucket = kBuckets; bucket-- > 0;) {
        record.compute_ms += Pass(now, 4);
        const double begin = now;
        record.submit_ms += Pass(now, 2);
        spans.push_back(Span(SpanKind::kSubmit, begin, now, step, bucket));
        const double codec = begin + Draw(-5, 5);
        spans.push_back(Span(SpanKind::kCodec, std::max(codec, 0.0),
                             std::max(codec, 0.0) + Draw(0, 4), step, bucket));
      }
      record.step_ms += record.compute_ms + record.exposed_comm_ms + record.submit_ms;
      steps.push_back(record);
    }
    records.push_back(steps);
    traces.push_back(Worker(rank, spans));
  }

  std::mt19937 random_;
};

TEST(CriticalPath, ComponentsAddUpToTheStepTimeAndNoneIsNegative) {
  int from_timeline = 0;
  for (unsigned seed = 0; seed < 50; ++seed) {
    const RandomRun run(seed);
    for (const bool synchronous : {true, false}) {
      for (const bool timeline : {true, false}) {
        CriticalPathInput input{.ranks = run.records,
                                .synchronous = synchronous,
                                .servers = seed % 2 == 0,
                                .codec = true};
        if (timeline) input.traces = run.traces;
        for (const CriticalStep& step : CriticalPath(input)) {
          EXPECT_NEAR(Sum(step), step.step_ms, 1e-9);
          for (const double part :
               {step.compute_ms, step.exposed_comm_ms, step.straggler_wait_ms.value_or(0),
                step.server_queue_ms.value_or(0), step.codec_ms.value_or(0), step.data_ms,
                step.other_ms}) {
            EXPECT_GE(part, -1e-5);  // spans are whole nanoseconds
          }
          EXPECT_EQ(step.straggler_wait_ms.has_value(), synchronous);
          from_timeline += step.from_timeline ? 1 : 0;
        }
      }
    }
  }
  EXPECT_GT(from_timeline, 100) << "or the timeline was not tried at all";
}

}  // namespace
}  // namespace ringside

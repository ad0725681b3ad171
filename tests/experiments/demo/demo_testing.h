#ifndef RINGSIDE_TESTS_EXPERIMENTS_DEMO_DEMO_TESTING_H_
#define RINGSIDE_TESTS_EXPERIMENTS_DEMO_DEMO_TESTING_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ringside/experiments/demo/recorded_run.h"

namespace ringside {

/// A small record whose events are right: two workers that sum a bucket of 8 elements in `steps`
/// steps. A step takes 1,000 ns.
class SampleRun {
 public:
  static RecordedRun Ring(int steps) {
    SampleRun sample("ring", 2, 0);
    for (int step = 0; step < steps; ++step) sample.AddRingStep(step);
    return sample.Take();
  }
  static RecordedRun Servers(int steps) {
    SampleRun sample("ps-sync", 2, 1);
    for (int step = 0; step < steps; ++step) sample.AddServerStep(step);
    return sample.Take();
  }
  static RecordedRun Slices(int steps) {
    SampleRun sample("shm", 2, 0);
    for (int step = 0; step < steps; ++step) sample.AddSliceStep(step);
    return sample.Take();
  }

 private:
  SampleRun(const std::string& strategy, int workers, int servers) {
    run_.chunks.head = {{"strategy", strategy},  {"status", "done"},
                        {"steps", "all"},        {"workers", workers},
                        {"servers", servers},    {"dedicated_servers", servers},
                        {"bucket_elements", {8}}};
    run_.summary = {{"strategy", strategy}, {"workers", workers}, {"warmup_steps", 0}};
    for (int rank = 0; rank < workers; ++rank) {
      run_.chunks.processes.push_back({"worker " + std::to_string(rank), ""});
    }
    for (int i = 0; i < servers; ++i) run_.chunks.processes.push_back({"server 0", ""});
    run_.chunks.complete = true;
  }

  void Add(int process, TraceChunk chunk) { run_.chunks.rows.push_back({process, chunk}); }

  void AddSteps(int step, std::int64_t begin) {
    for (const int rank : {0, 1}) {
      run_.spans.push_back({rank, kComputeLane, SpanKind::kForward, step, -1, begin, begin + 100});
      run_.spans.push_back(
          {rank, kCommunicationLane, SpanKind::kWire, step, 0, begin + 100, begin + 900});
    }
  }

  void AddRingStep(int step) {
    const std::int64_t begin = std::int64_t{1'000} * step;
    AddSteps(step, begin);
    for (const ChunkPhase phase : {ChunkPhase::kReduceScatter, ChunkPhase::kAllGather}) {
      const bool gathers = phase == ChunkPhase::kAllGather;
      const std::int64_t at = begin + (gathers ? 500 : 100);
      for (const int rank : {0, 1}) {
        TraceChunk chunk{.begin = at,
                         .end = at + 100,
                         .step = step,
                         .offset = (rank == 0) != gathers ? 0 : 4,
                         .elements = 4,
                         .bytes = 16,
                         .bucket = 0,
                         .peer = 1 - rank,
                         .phase = phase};
        Add(rank, chunk);
        chunk.action = ChunkAction::kReceive;
        chunk.peer = rank;
        chunk.begin = at + 100;
        chunk.end = at + (gathers ? 300 : 400);
        Add(1 - rank, chunk);
      }
    }
  }

  void AddSliceStep(int step) {
    const std::int64_t begin = std::int64_t{1'000} * step;
    for (const int rank : {0, 1}) {
      run_.spans.push_back(
          {rank, kComputeLane, SpanKind::kApply, step, 0, begin + 200, begin + 400});
      Add(rank, {.begin = begin + 200,
                 .end = begin + 400,
                 .step = step,
                 .offset = rank == 0 ? 0 : 4,
                 .elements = 4,
                 .bytes = 16,
                 .bucket = 0,
                 .phase = ChunkPhase::kSlice,
                 .action = ChunkAction::kUpdate});
    }
  }

  void AddServerStep(int step) {
    const std::int64_t begin = std::int64_t{1'000} * step;
    AddSteps(step, begin);
    TraceChunk chunk{.step = step, .elements = 8, .bytes = 32, .bucket = 0, .piece = 0};
    chunk.version = step;
    for (const int rank : {0, 1}) {
      AddTransfer(chunk, rank, ChunkPhase::kPush, begin + 100,
                  begin + 200 + std::int64_t{50} * rank);
    }
    AddUpdate(chunk, begin);
    chunk.version = step + 1;
    chunk.staleness = 0;
    for (const int rank : {0, 1}) {
      AddTransfer(chunk, rank, ChunkPhase::kPull, begin + 400, begin + 600);
    }
  }

  void AddUpdate(TraceChunk chunk, std::int64_t begin) {
    chunk.version += 1;
    chunk.begin = begin + 250;
    chunk.end = begin + 300;
    chunk.bytes = 0;
    chunk.server = 0;
    chunk.peer = 1;
    chunk.phase = ChunkPhase::kPush;
    chunk.action = ChunkAction::kUpdate;
    Add(2, chunk);
    run_.spans.push_back(
        {2, kServerLane, SpanKind::kApply, chunk.step, 0, begin + 251, begin + 301});
  }

  void AddTransfer(TraceChunk chunk, int rank, ChunkPhase phase, std::int64_t begin,
                   std::int64_t end) {
    const bool push = phase == ChunkPhase::kPush;
    chunk.phase = phase;
    chunk.peer = 0;
    chunk.offset = 0;
    chunk.action = push ? ChunkAction::kSend : ChunkAction::kReceive;
    // A worker waits for its answer as soon as it has sent its gradient.
    chunk.begin = push ? begin : begin - 250;
    chunk.end = push ? begin + 50 : end;
    Add(rank, chunk);
    chunk.server = 0;
    chunk.peer = rank;
    chunk.offset.reset();
    chunk.action = push ? ChunkAction::kReceive : ChunkAction::kSend;
    chunk.begin = chunk.end = push ? end : begin;
    Add(2, chunk);
    if (!push) return;
    run_.spans.push_back({2, kServerQueueLane, SpanKind::kQueue, chunk.step, 0, end, end});
  }

  RecordedRun Take() {
    run_.traffic = JoinTraffic(run_.chunks, run_.workers());
    return std::move(run_);
  }

  RecordedRun run_;
};

}  // namespace ringside

#endif  // RINGSIDE_TESTS_EXPERIMENTS_DEMO_DEMO_TESTING_H_

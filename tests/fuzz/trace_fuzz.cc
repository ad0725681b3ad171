// The timelines that processes hand in, up to the trace and the critical path made of them.
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "ringside/experiments/demo/transfers.h"
#include "ringside/experiments/job/coordinator/coordinator_messages.h"
#include "ringside/experiments/job/coordinator/job_state.h"
#include "ringside/experiments/job/timeline/chrome_trace.h"
#include "ringside/experiments/job/timeline/chunk_file.h"
#include "ringside/experiments/job/timeline/critical_path.h"
#include "ringside/experiments/job/timeline/process_trace.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/quiet_protobuf.h"

namespace ringside {
namespace {

constexpr std::size_t kMostProcesses = 4;

// Flags of an input.
constexpr std::uint8_t kSynchronous = 1;
constexpr std::uint8_t kServers = 2;
constexpr std::uint8_t kCodec = 4;

struct Run {
  std::vector<ProcessTrace> traces;
  std::vector<std::vector<StepRecord>> ranks;
};

ProcessTrace TraceOf(TracePiece piece, int rank) {
  ProcessTrace trace;
  trace.name = MemberName({Role::kWorker, rank});
  trace.id = rank;
  trace.rank = rank;
  trace.dropped = piece.dropped;
  trace.clock = ClockCorrection(std::move(piece.readings));
  trace.spans = UnpackSpans(piece.spans, trace.clock);
  trace.chunks = UnpackChunks(piece.chunks, trace.clock);
  trace.dropped_chunks = piece.dropped_chunks;
  return trace;
}

/// Takes what one process has sent, if the coordinator takes it.
void AddProcess(const std::string& piece_bytes, const std::string& beat_bytes, Run& run) {
  job::TracePiece piece_message;
  job::BeatRequest beat_message;
  if (!piece_message.ParseFromString(piece_bytes) || !beat_message.ParseFromString(beat_bytes)) {
    return;
  }
  const int rank = static_cast<int>(run.traces.size());
  JobState job_state({.workers = rank + 1});
  const auto ticket = job_state.Join({.who = {Role::kWorker, rank}});
  job_state.SubmitTrace(ticket, FromMessage(piece_message));
  job_state.HandleHeartbeat(ticket, FromMessage(beat_message));
  run.traces.push_back(TraceOf(job_state.TakeTrace(ticket.who), rank));
  run.ranks.push_back(job_state.TakeRows(ticket.who).steps);
}

void MakeFiles(const Run& run, std::uint8_t flags) {
  const std::string trace = ChromeTrace(run.traces, nlohmann::json::object());
  if (!nlohmann::json::accept(trace)) throw InternalError("the trace is no JSON");
  const auto workers = static_cast<int>(run.traces.size());
  if (workers > 0) {
    const std::string chunks =
        ChunkFileText(run.traces, {{"workers", workers}, {"servers", 1}, {"dedicated_servers", 0}});
    const ChunkFile file = ParseChunkFile(chunks, "chunks");
    if (!file.complete) throw InternalError("the record of chunks is not complete");
    JoinTraffic(file, workers);
  }
  const std::vector<CriticalStep> path = CriticalPath({.ranks = run.ranks,
                                                       .synchronous = (flags & kSynchronous) != 0,
                                                       .servers = (flags & kServers) != 0,
                                                       .codec = (flags & kCodec) != 0,
                                                       .traces = run.traces});
  for (const CriticalStep& step : path) CriticalStepJson(step).dump();
  CriticalPathJson(path, 1).dump();
}

Timeline::Clock::time_point At(std::int64_t microseconds) {
  return Timeline::Clock::time_point(std::chrono::microseconds(microseconds));
}

std::string ProcessSeed() {
  job::TracePiece piece;
  piece.set_spans(PackSpans({{At(10), At(20), 0, -1, kComputeLane, SpanKind::kForward},
                             {At(20), At(22), 0, 1, kComputeLane, SpanKind::kSubmit},
                             {At(22), At(30), 0, 1, kCommunicationLane, SpanKind::kWire},
                             {At(23), At(30), 1, 1, kComputeLane, SpanKind::kAwait},
                             {At(24), At(29), 0, 1, kServerQueueLane, SpanKind::kQueue}}));
  ChunkEvent push{.begin = At(22), .end = At(24), .elements = 4, .bytes = 16, .bucket = 1};
  ChunkEvent pull = push;
  pull.phase = ChunkPhase::kPull;
  pull.action = ChunkAction::kReceive;
  piece.set_chunks(PackChunks({push, pull}));
  for (const std::int64_t at : {5'000, 50'000}) {
    job::ClockReading* reading = piece.add_readings();
    reading->set_at(at);
    reading->set_offset(2'000 + at / 100);
    reading->set_uncertainty(100);
  }
  job::BeatRequest beat;
  beat.set_rows_number(1);
  for (const std::int64_t step : {0, 1}) {
    job::StepRow* row = beat.add_steps();
    row->set_step(step);
    row->set_step_ms(0.02);
    row->set_submit_ms(step == 0 ? 0.002 : 0);
    row->set_exposed_comm_ms(step == 0 ? 0 : 0.007);
  }
  return Chunk(piece.SerializeAsString()) + Chunk(beat.SerializeAsString());
}

}  // namespace

// Flags, then of each process a piece of its timeline and a heartbeat.
std::vector<std::string> FuzzSeeds() {
  return {std::string(1, '\1') + ProcessSeed() + ProcessSeed(),
          std::string(1, '\7') + ProcessSeed()};
}

}  // namespace ringside

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ringside;
  SilenceProtobuf();
  FuzzInput input(data, size);
  const std::uint8_t flags = input.Byte();
  Run run;
  while (!input.empty() && run.traces.size() < kMostProcesses) {
    const std::string piece = input.NextChunk();
    const std::string beat = input.NextChunk();
    DropRefusals([&] { AddProcess(piece, beat, run); });
  }
  MakeFiles(run, flags);
  return 0;
}

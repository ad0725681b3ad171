#include "ringside/experiments/job/summary/timeline_files.h"

#include <fmt/format.h>

#include <exception>
#include <utility>

#include "ringside/experiments/job/timeline/chrome_trace.h"
#include "ringside/experiments/job/timeline/chunk_file.h"
#include "ringside/experiments/spec/catalog.h"
#include "ringside/experiments/spec/run_spec.h"
#include "ringside/experiments/spec/server_layout.h"
#include "ringside/experiments/spec/timeline_steps.h"
#include "ringside/experiments/system/files/files.h"

namespace ringside {
namespace {

ProcessTrace TakeTrace(JobState& job_state, const Member& who, int id) {
  TracePiece piece = job_state.TakeTrace(who);
  ProcessTrace trace;
  trace.name = MemberName(who);
  trace.id = id;
  trace.rank = who.role == Role::kWorker ? who.index : -1;
  if (const auto record = job_state.Record(who)) trace.host = record->host;
  trace.dropped = piece.dropped;
  trace.clock = ClockCorrection(std::move(piece.readings));
  trace.spans = UnpackSpans(piece.spans, trace.clock);
  trace.chunks = UnpackChunks(piece.chunks, trace.clock);
  trace.dropped_chunks = piece.dropped_chunks;
  return trace;
}

/// Steps without spans say no more than the metrics, and a long run has many.
std::string CriticalPathLines(const std::vector<CriticalStep>& path) {
  std::string lines;
  for (const CriticalStep& step : path) {
    if (step.from_timeline) lines += CriticalStepJson(step).dump() + "\n";
  }
  return lines;
}

std::string StepsText(const RunSpec& spec) {
  const std::string steps = TimelineStepsText(spec.timeline_steps);
  return steps.empty() ? "all" : steps;
}

std::string TraceOf(const RunRecord& run, const std::vector<ProcessTrace>& traces) {
  return ChromeTrace(traces, {{"run_id", RunId(run.spec)},
                              {"strategy", run.spec.strategy},
                              {"status", run.status},
                              {"steps", StepsText(run.spec)}});
}

std::string ChunksOf(const RunRecord& run, const std::vector<ProcessTrace>& traces) {
  const nlohmann::json report = run.workers.empty() ? nlohmann::json() : run.workers[0].report;
  const ServerLayout servers = LayoutServers(run.spec);
  return ChunkFileText(
      traces,
      {{"run_id", RunId(run.spec)},
       {"strategy", run.spec.strategy},
       {"status", run.status},
       {"steps", StepsText(run.spec)},
       {"workers", run.spec.workers},
       {"servers", servers.total()},
       {"dedicated_servers", servers.dedicated},
       {"bucket_elements", report.is_object() ? report.value("bucket_elements", nlohmann::json())
                                              : nlohmann::json()}});
}

/// Writes one file of a timeline. An error becomes a warning: it must not fail the run, nor stop
/// the other file.
template <typename Write>
void WriteOrWarn(const char* what, const std::function<void(const std::string&)>& warn,
                 Write&& write) {
  try {
    write();
  } catch (const std::exception& error) {
    warn(fmt::format("there is no {}: {}", what, error.what()));
  }
}

}  // namespace

std::vector<ProcessTrace> TakeTraces(JobState& job_state, const RunSpec& spec) {
  std::vector<ProcessTrace> traces;
  if (!spec.timeline) return traces;
  for (int rank = 0; rank < spec.workers; ++rank) {
    traces.push_back(TakeTrace(job_state, {Role::kWorker, rank}, rank));
  }
  for (int index = 0; index < LayoutServers(spec).dedicated; ++index) {
    traces.push_back(TakeTrace(job_state, {Role::kServer, index}, spec.workers + index));
  }
  return traces;
}

std::vector<CriticalStep> CriticalPathOf(const RunRecord& run,
                                         const std::vector<ProcessTrace>& traces) {
  std::vector<std::vector<StepRecord>> ranks;
  for (const WorkerRecord& worker : run.workers) ranks.push_back(worker.steps);
  const StrategyEntry* entry = run.spec.catalog().FindStrategy(run.spec.strategy);
  return CriticalPath({.ranks = ranks,
                       .synchronous = entry != nullptr && entry->traits.synchronous(),
                       .servers = LayoutServers(run.spec).total() > 0,
                       .codec = run.spec.options.codec.encodes(),
                       .traces = traces});
}

void WriteTimeline(const RunRecord& run, const std::vector<ProcessTrace>& traces,
                   const std::string& bundle_dir,
                   const std::function<void(const std::string&)>& warn) {
  if (!run.spec.timeline) return;
  std::uint64_t dropped = 0;
  std::uint64_t dropped_chunks = 0;
  for (const ProcessTrace& trace : traces) {
    dropped += trace.dropped;
    dropped_chunks += trace.dropped_chunks;
  }
  if (dropped + dropped_chunks > 0) {
    warn(
        fmt::format("the timeline had no room for {} spans and {} chunks; show fewer steps with "
                    "--timeline-steps",
                    dropped, dropped_chunks));
  }
  const std::string& named = run.spec.timeline_filename;
  WriteOrWarn("timeline", warn, [&] {
    WriteFileAtomically(named.empty() ? bundle_dir + "/trace.json" : named, TraceOf(run, traces));
  });
  WriteOrWarn("record of chunks", warn, [&] {
    WriteFileAtomically(fmt::format("{}/{}", bundle_dir, kChunkFile), ChunksOf(run, traces));
  });
  WriteOrWarn("critical_path.jsonl", warn, [&] {
    WriteFileAtomically(bundle_dir + "/critical_path.jsonl", CriticalPathLines(run.critical_path));
  });
}

}  // namespace ringside

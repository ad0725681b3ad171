#include "ringside/experiments/demo/recorded_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/report/runs/run_fidelity.h"
#include "ringside/experiments/spec/bundle.h"
#include "ringside/experiments/system/files/files.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// The files of a record have less than that together (timeline_sender.h).
constexpr std::size_t kMostBytes = std::size_t{64} << 20;
/// The rows of a lane have thread ids from this multiple of its number on (`ChromeTrace`).
constexpr int kRowsPerLane = 1000;
constexpr double kMostMicroseconds = 1e15;
constexpr std::int64_t kMostSteps = std::int64_t{1} << 60;

template <typename Value>
Value Get(const json& object, const char* key, Value otherwise) {
  const auto found = object.find(key);
  if (found == object.end() || found->is_null()) return otherwise;
  if constexpr (std::is_same_v<Value, std::string>) {
    return found->is_string() ? found->get<Value>() : otherwise;
  } else {
    constexpr bool kWhole = std::is_integral_v<Value>;
    const bool fits = kWhole ? found->is_number_integer() : found->is_number();
    return fits ? found->get<Value>() : otherwise;
  }
}

int KindOf(const std::string& name) {
  for (int kind = 0; kind <= static_cast<int>(kLastSpanKind); ++kind) {
    if (name == SpanName(static_cast<SpanKind>(kind))) return kind;
  }
  return -1;
}

/// False for what is no span of a run.
bool ToSpan(const json& event, RecordedSpan& span) {
  const double begin = Get(event, "ts", -1.0);
  const double duration = Get(event, "dur", -1.0);
  const int kind = KindOf(Get(event, "name", std::string()));
  const int thread = Get(event, "tid", -1);
  const auto arguments = event.find("args");
  if (kind < 0 || thread < 0 || thread / kRowsPerLane >= kTimelineLanes ||
      arguments == event.end() || !arguments->is_object() || begin < 0 || duration < 0 ||
      begin > kMostMicroseconds || duration > kMostMicroseconds) {
    return false;
  }
  span.process = Get(event, "pid", -1);
  span.lane = thread / kRowsPerLane;
  span.kind = static_cast<SpanKind>(kind);
  span.step = Get(*arguments, "step", std::int64_t{0});
  span.bucket = Get(*arguments, "bucket", -1);
  span.begin = std::llround(begin * 1e3);
  span.end = span.begin + std::llround(duration * 1e3);
  return span.process >= 0 && span.step >= -kMostSteps && span.step <= kMostSteps;
}

void ReadSpans(RecordedRun& run) {
  const fs::path path = run.directory / "trace.json";
  if (!fs::exists(path)) {
    run.notes.emplace_back("The run has no trace.json, so nobody knows what its threads did.");
    return;
  }
  try {
    run.spans = ParseTraceSpans(ReadFile(path.string(), kMostBytes), path.string());
  } catch (const DataError& error) {
    run.notes.push_back(fmt::format(
        "What the threads did cannot be read: {}. The page shows the chunks alone.", error.what()));
    return;
  }
  const auto processes = static_cast<int>(run.chunks.processes.size());
  std::erase_if(run.spans, [&](const RecordedSpan& span) { return span.process >= processes; });
}

void ReadChunks(RecordedRun& run) {
  const fs::path path = run.directory / kChunkFile;
  if (!fs::exists(path)) {
    throw Error(fmt::format("{} has no record ({}): run it again with --timeline",
                            run.directory.string(), kChunkFile));
  }
  run.chunks = ReadChunkFile(path.string());
  run.traffic = JoinTraffic(run.chunks, run.workers());
  if (!run.chunks.complete) {
    run.notes.emplace_back("The record is cut off. The page shows what there is.");
  }
  if (run.chunks.changed) {
    run.notes.emplace_back(
        "The record was changed after it was written: its checksum is another one.");
  }
  if (run.chunks.dropped > 0) {
    run.notes.push_back(fmt::format(
        "The record had no room for {} chunks. The last steps lack some.", run.chunks.dropped));
  }
  if (run.chunks.rows.empty()) {
    run.notes.emplace_back(
        "The record has no chunks: the library that sums hides them, or nothing was sent.");
  }
}

void NoteFidelity(RecordedRun& run) {
  const auto fidelity = ReadFidelity(run.summary);
  if (!fidelity || fidelity->verdict == FidelityVerdict::kOk) return;
  if (fidelity->verdict == FidelityVerdict::kNotJudged) {
    run.notes.push_back(
        "Whether the machine was a limit, too, was not judged: " + fidelity->not_judged + ".");
    return;
  }
  run.notes.push_back(fmt::format(
      "The machine was a limit, too, so times may be longer than the links make them: {}.",
      fmt::join(fidelity->limited_by, "; ")));
}

}  // namespace

int RecordedRun::workers() const { return std::max(1, Get(chunks.head, "workers", 1)); }
int RecordedRun::servers() const { return std::max(0, Get(chunks.head, "servers", 0)); }

std::vector<RecordedSpan> ParseTraceSpans(std::string_view text, const std::string& path) {
  const json trace = json::parse(text, nullptr, false);
  if (trace.is_discarded() || !trace.is_object() || !trace.contains("traceEvents") ||
      !trace["traceEvents"].is_array()) {
    throw DataError(path, "this is not a trace, or it is cut off");
  }
  std::vector<RecordedSpan> spans;
  for (const json& event : trace["traceEvents"]) {
    RecordedSpan span;
    if (event.is_object() && Get(event, "ph", std::string()) == "X" && ToSpan(event, span)) {
      spans.push_back(span);
    }
  }
  std::ranges::stable_sort(spans, {}, &RecordedSpan::begin);
  return spans;
}

RecordedRun ReadRecordedRun(const fs::path& directory) {
  RecordedRun run;
  run.directory = directory;
  if (!fs::exists(directory / kSummaryFile)) {
    throw Error(fmt::format("{} is no bundle of a run that has ended: it has no {}",
                            directory.string(), kSummaryFile));
  }
  run.summary = ReadSummary(directory);
  ReadChunks(run);
  ReadSpans(run);
  NoteFidelity(run);
  return run;
}

}  // namespace ringside

#include "ringside/experiments/job/timeline/chrome_trace.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <utility>

#include "ringside/experiments/job/timeline/chunk_file.h"

namespace ringside {
namespace {

using nlohmann::json;

// The rows of one lane have consecutive thread ids.
constexpr int kRowsPerLane = 1000;

int ThreadId(int lane, int row) { return lane * kRowsPerLane + std::min(row, kRowsPerLane - 1); }

std::string Text(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

void AppendMetadata(std::string& out, const char* name, int process, int thread,
                    const json& arguments) {
  out +=
      Text({{"ph", "M"}, {"name", name}, {"pid", process}, {"tid", thread}, {"args", arguments}});
  out += ",\n";
}

// Keeps nanoseconds, because many spans are shorter than a microsecond. Prints integers, because a
// locale may have a decimal comma.
void AppendSpan(std::string& out, const TraceSpan& span, std::int64_t origin, int process,
                int thread) {
  const std::int64_t begin = span.begin - origin;
  const std::int64_t duration = span.end - span.begin;
  fmt::format_to(std::back_inserter(out),
                 R"({{"ph":"X","name":"{}","pid":{},"tid":{},"ts":{}.{:03},"dur":{}.{:03},)"
                 R"("args":{{"step":{})",
                 SpanName(span.kind), process, thread, begin / 1000, begin % 1000, duration / 1000,
                 duration % 1000, span.step);
  if (span.bucket >= 0) fmt::format_to(std::back_inserter(out), R"(,"bucket":{})", span.bucket);
  out += "}},\n";
}

json ClockJson(const ClockCorrection& clock) {
  json readings = json::array();
  for (const ClockReading& reading : clock.readings()) {
    readings.push_back({{"offset_us", static_cast<double>(reading.offset) / 1e3},
                        {"uncertainty_us", static_cast<double>(reading.uncertainty) / 1e3}});
  }
  return {{"shared", clock.shared()}, {"readings", readings}};
}

json ProcessJson(const ProcessTrace& process) {
  const auto covered = process.covered_steps();
  return {{"name", process.name},
          {"pid", process.id},
          {"spans", process.spans.size()},
          {"dropped_spans", process.dropped},
          {"covered_steps", covered ? json{covered->first, covered->second} : json()},
          {"clock", ClockJson(process.clock)}};
}

void AppendProcess(std::string& out, const ProcessTrace& process, std::int64_t origin) {
  AppendMetadata(out, "process_name", process.id, 0, {{"name", process.name}});
  AppendMetadata(out, "process_sort_index", process.id, 0, {{"sort_index", process.id}});
  const std::vector<int> rows = LayOutRows(process.spans);
  std::set<std::pair<int, int>> threads;
  for (std::size_t i = 0; i < rows.size(); ++i) threads.insert({process.spans[i].lane, rows[i]});
  for (const auto& [lane, row] : threads) {
    const std::string name =
        row == 0 ? LaneName(lane) : fmt::format("{} {}", LaneName(lane), row + 1);
    const int thread = ThreadId(lane, row);
    AppendMetadata(out, "thread_name", process.id, thread, {{"name", name}});
    AppendMetadata(out, "thread_sort_index", process.id, thread, {{"sort_index", thread}});
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const TraceSpan& span = process.spans[i];
    AppendSpan(out, span, origin, process.id, ThreadId(span.lane, rows[i]));
  }
}

/// The ends of a row's open spans, the innermost last.
using Row = std::vector<std::int64_t>;

bool Takes(Row& row, const TraceSpan& span) {
  while (!row.empty() && row.back() <= span.begin) row.pop_back();
  if (!row.empty() && span.end > row.back()) return false;
  row.push_back(span.end);
  return true;
}

}  // namespace

std::vector<int> LayOutRows(std::span<const TraceSpan> spans) {
  std::vector<std::size_t> order(spans.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {},
                           [&](std::size_t i) { return std::pair(spans[i].begin, -spans[i].end); });
  std::map<int, std::vector<Row>> lanes;
  std::vector<int> rows(spans.size());
  for (const std::size_t i : order) {
    std::vector<Row>& lane = lanes[spans[i].lane];
    auto row = std::ranges::find_if(lane, [&](Row& open) { return Takes(open, spans[i]); });
    if (row == lane.end()) row = lane.insert(lane.end(), Row{spans[i].end});
    rows[i] = static_cast<int>(row - lane.begin());
  }
  return rows;
}

std::string ChromeTrace(std::span<const ProcessTrace> processes, json about) {
  const std::int64_t origin = TraceOrigin(processes);
  std::size_t spans = 0;
  std::uint64_t dropped = 0;
  json listed = json::array();
  for (const ProcessTrace& process : processes) {
    spans += process.spans.size();
    dropped += process.dropped;
    listed.push_back(ProcessJson(process));
  }
  about["dropped_spans"] = dropped;
  about["processes"] = std::move(listed);
  std::string out =
      R"({"displayTimeUnit":"ms","otherData":)" + Text(about) + ",\"traceEvents\":[\n";
  out.reserve(out.size() + 140 * spans + 1024 * (processes.size() + 1));
  for (const ProcessTrace& process : processes) AppendProcess(out, process, origin);
  if (out.ends_with(",\n")) out.resize(out.size() - 2);
  return out + "\n]}\n";
}

}  // namespace ringside

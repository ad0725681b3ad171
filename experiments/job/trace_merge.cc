#include "experiments/job/trace_merge.h"

#include <charconv>
#include <string_view>

namespace ringside {
namespace {

/// What stands between the brackets of `"traceEvents":[...]`, the last key.
std::string_view Events(std::string_view trace) {
  constexpr std::string_view kKey = "\"traceEvents\":[";
  const std::size_t key = trace.find(kKey);
  const std::size_t end = trace.rfind(']');
  if (key == std::string_view::npos || end == std::string_view::npos) return {};
  const std::size_t begin = key + kKey.size();
  return end > begin ? trace.substr(begin, end - begin) : std::string_view();
}

/// 0 where the trace does not say.
std::int64_t DroppedSpans(std::string_view trace) {
  constexpr std::string_view kKey = "\"dropped_spans\":";
  const std::string_view head = trace.substr(0, trace.find("\"traceEvents\""));
  const std::size_t key = head.find(kKey);
  std::int64_t dropped = 0;
  if (key == std::string_view::npos) return dropped;
  std::from_chars(head.data() + key + kKey.size(), head.data() + head.size(), dropped);
  return dropped;
}

}  // namespace

MergedTrace MergeTraces(std::span<const std::string> traces) {
  MergedTrace result;
  for (const std::string& trace : traces) result.dropped_spans += DroppedSpans(trace);
  std::string& merged = result.text;
  merged = R"({"displayTimeUnit":"ms","otherData":{"dropped_spans":)" +
           std::to_string(result.dropped_spans) + R"(},"traceEvents":[)";
  bool first = true;
  for (const std::string& trace : traces) {
    const std::string_view events = Events(trace);
    if (events.empty()) continue;
    if (!first) merged += ",\n";
    first = false;
    merged += events;
  }
  merged += "]}\n";
  return result;
}

}  // namespace ringside

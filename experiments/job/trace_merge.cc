#include "experiments/job/trace_merge.h"

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

}  // namespace

std::string MergeTraces(std::span<const std::string> traces) {
  std::string merged = R"({"displayTimeUnit":"ms","traceEvents":[)";
  bool first = true;
  for (const std::string& trace : traces) {
    const std::string_view events = Events(trace);
    if (events.empty()) continue;
    if (!first) merged += ",\n";
    first = false;
    merged += events;
  }
  return merged + "]}\n";
}

}  // namespace ringside

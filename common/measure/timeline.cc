#include "common/measure/timeline.h"

#include <algorithm>
#include <cstdio>
#include <set>

namespace ringside {
namespace {

std::string Quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (code < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof(escape), "\\u%04x", static_cast<unsigned>(code));
      out += escape;
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string LaneName(int lane) {
  switch (lane) {
    case 0:
      return "compute";
    case 1:
      return "communication";
    default:
      return "lane " + std::to_string(lane);
  }
}

// Metadata events name and sort processes and threads; `args` is a JSON object.
std::string Metadata(const char* name, int process_id, int lane, const std::string& args) {
  return std::string(R"({"ph":"M","name":")") + name + R"(","pid":)" + std::to_string(process_id) +
         R"(,"tid":)" + std::to_string(lane) + R"(,"args":)" + args + "}";
}

// Nanosecond digits are kept: many spans are shorter than a microsecond. In integers, because a
// locale may have a decimal comma.
std::string Microseconds(Timeline::Clock::duration duration) {
  const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(duration).count();
  char text[40];
  std::snprintf(text, sizeof(text), "%lld.%03lld", static_cast<long long>(ns / 1000),
                static_cast<long long>(ns % 1000));
  return text;
}

}  // namespace

const char* SpanName(SpanKind kind) {
  switch (kind) {
    case SpanKind::kData:
      return "data";
    case SpanKind::kForward:
      return "forward";
    case SpanKind::kBackward:
      return "backward";
    case SpanKind::kSubmit:
      return "submit";
    case SpanKind::kQueue:
      return "queue";
    case SpanKind::kWire:
      return "wire";
    case SpanKind::kReduce:
      return "reduce";
    case SpanKind::kApply:
      return "apply";
    case SpanKind::kAwait:
      return "await";
    case SpanKind::kEvaluate:
      return "evaluate";
    case SpanKind::kCodec:
      return "codec";
  }
  return "unknown";
}

Timeline::Timeline(std::size_t capacity) : spans_(capacity) {}

void Timeline::Add(SpanKind kind, Clock::time_point begin, Clock::time_point end, std::int64_t step,
                   int bucket, int lane) {
  if (!enabled()) return;
  const std::size_t slot = next_.fetch_add(1, std::memory_order_relaxed);
  if (slot >= spans_.size()) return;
  spans_[slot] = {begin, end, step, bucket, static_cast<std::int16_t>(lane), kind};
}

std::size_t Timeline::dropped() const {
  const std::size_t claimed = next_.load(std::memory_order_relaxed);
  return claimed > spans_.size() ? claimed - spans_.size() : 0;
}

std::string Timeline::ChromeTrace(const std::string& process, int process_id) const {
  const std::size_t used = std::min(next_.load(std::memory_order_relaxed), spans_.size());
  std::string out = R"({"displayTimeUnit":"ms","otherData":{"dropped_spans":)" +
                    std::to_string(dropped()) + R"(},"traceEvents":[)";
  out.reserve(out.size() + 160 * (used + 4));
  out += Metadata("process_name", process_id, 0, R"({"name":)" + Quoted(process) + "}");
  out += ",\n" + Metadata("process_sort_index", process_id, 0,
                          R"({"sort_index":)" + std::to_string(process_id) + "}");
  std::set<int> lanes;
  for (std::size_t i = 0; i < used; ++i) lanes.insert(spans_[i].lane);
  for (const int lane : lanes) {
    out += ",\n" +
           Metadata("thread_name", process_id, lane, R"({"name":)" + Quoted(LaneName(lane)) + "}");
  }
  for (std::size_t i = 0; i < used; ++i) out += ",\n" + Event(spans_[i], process_id);
  return out + "]}\n";
}

std::string Timeline::Event(const Span& span, int process_id) {
  std::string args = R"({"step":)" + std::to_string(span.step);
  if (span.bucket >= 0) args += R"(,"bucket":)" + std::to_string(span.bucket);
  return std::string(R"({"ph":"X","name":")") + SpanName(span.kind) + R"(","pid":)" +
         std::to_string(process_id) + R"(,"tid":)" + std::to_string(span.lane) + R"(,"ts":)" +
         Microseconds(span.begin.time_since_epoch()) + R"(,"dur":)" +
         Microseconds(span.end - span.begin) + R"(,"args":)" + args + "}}";
}

}  // namespace ringside

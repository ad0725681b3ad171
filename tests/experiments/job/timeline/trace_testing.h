#ifndef RINGSIDE_TESTS_EXPERIMENTS_JOB_TIMELINE_TRACE_TESTING_H_
#define RINGSIDE_TESTS_EXPERIMENTS_JOB_TIMELINE_TRACE_TESTING_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace ringside {

inline std::vector<nlohmann::json> EventsOf(const nlohmann::json& trace, const std::string& phase) {
  std::vector<nlohmann::json> events;
  for (const nlohmann::json& event : trace.at("traceEvents")) {
    if (event.at("ph") == phase) events.push_back(event);
  }
  return events;
}

/// The name in a trace's metadata; empty when there is none.
inline std::string NameOf(const nlohmann::json& trace, const std::string& metadata, int process,
                          int thread) {
  for (const nlohmann::json& event : EventsOf(trace, "M")) {
    if (event.at("name") == metadata && event.at("pid") == process && event.at("tid") == thread) {
      return event.at("args").at("name");
    }
  }
  return {};
}

/// The threads' names, by process and thread.
inline std::map<std::pair<int, int>, std::string> ThreadNames(const nlohmann::json& trace) {
  std::map<std::pair<int, int>, std::string> names;
  for (const nlohmann::json& event : EventsOf(trace, "M")) {
    if (event.at("name") != "thread_name") continue;
    names[{event.at("pid"), event.at("tid")}] = event.at("args").at("name");
  }
  return names;
}

/// Converts to nanoseconds, which the text has as three decimals.
inline std::int64_t NanosecondsOf(const nlohmann::json& microseconds) {
  return std::llround(microseconds.get<double>() * 1000);
}

/// Expects what viewers need of a trace: no negative times, and spans of one thread that nest or do
/// not overlap.
inline void ExpectWellFormed(const nlohmann::json& trace) {
  std::map<std::pair<int, int>, std::vector<std::pair<std::int64_t, std::int64_t>>> threads;
  for (const nlohmann::json& event : EventsOf(trace, "X")) {
    const std::int64_t begin = NanosecondsOf(event.at("ts"));
    const std::int64_t duration = NanosecondsOf(event.at("dur"));
    ASSERT_GE(begin, 0) << event;
    ASSERT_GE(duration, 0) << event;
    ASSERT_TRUE(event.at("name").is_string() && event.at("args").at("step").is_number()) << event;
    threads[{event.at("pid"), event.at("tid")}].push_back({begin, -(begin + duration)});
  }
  const auto names = ThreadNames(trace);
  for (auto& [thread, spans] : threads) {
    ASSERT_TRUE(names.contains(thread));
    std::ranges::sort(spans);
    std::vector<std::int64_t> open;
    for (const auto& [begin, minus_end] : spans) {
      while (!open.empty() && open.back() <= begin) open.pop_back();
      if (!open.empty()) {
        ASSERT_LE(-minus_end, open.back()) << "overlaps at " << begin;
      }
      open.push_back(-minus_end);
    }
  }
}

}  // namespace ringside

#endif  // RINGSIDE_TESTS_EXPERIMENTS_JOB_TIMELINE_TRACE_TESTING_H_

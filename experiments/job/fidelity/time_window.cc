#include "ringside/experiments/job/fidelity/time_window.h"

#include <nlohmann/json.hpp>
#include <string>

#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

using Clock = TimeWindow::Clock;

std::int64_t Nanoseconds(Clock::time_point time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

// `get` would convert a fraction. The behaviour is undefined where it does not fit.
Clock::time_point TimeOf(const nlohmann::json& nanoseconds) {
  if (!nanoseconds.is_number_integer()) {
    throw InternalError("the times of counted steps: " + nanoseconds.dump() +
                        " is no whole number");
  }
  return Clock::time_point(std::chrono::nanoseconds(nanoseconds.get<std::int64_t>()));
}

}  // namespace

nlohmann::json WindowsJson(std::span<const TimeWindow> windows) {
  nlohmann::json list = nlohmann::json::array();
  for (const TimeWindow& window : windows) {
    list.push_back({Nanoseconds(window.begin), Nanoseconds(window.end)});
  }
  return list;
}

std::vector<TimeWindow> ReadWindows(const nlohmann::json& json) {
  std::vector<TimeWindow> windows;
  try {
    for (const auto& [begin, end] :
         json.get<std::vector<std::pair<nlohmann::json, nlohmann::json>>>()) {
      windows.push_back({TimeOf(begin), TimeOf(end)});
    }
  } catch (const nlohmann::json::exception& error) {
    throw InternalError(std::string("the times of counted steps: ") + error.what());
  }
  for (std::size_t i = 0; i < windows.size(); ++i) {
    if (windows[i].end < windows[i].begin || (i > 0 && windows[i].begin < windows[i - 1].end)) {
      throw InternalError("the times of counted steps are not in order: " + json.dump());
    }
  }
  return windows;
}

}  // namespace ringside

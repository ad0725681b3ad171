#include "ringside/experiments/spec/timeline_steps.h"

#include <fmt/format.h>

#include <cstdint>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/text/units.h"

namespace ringside {
namespace {

/// Removes the text before the next colon and parses it. Keeps `value` when that text is empty.
void TakeNumber(std::string_view& text, std::int64_t& value) {
  const std::size_t colon = text.find(':');
  const std::string_view number = text.substr(0, colon);
  if (!number.empty()) value = ParseInteger(number);
  text = colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
}

}  // namespace

TimelineSteps ParseTimelineSteps(std::string_view text) {
  TimelineSteps steps;
  if (text.empty()) return steps;
  std::string_view rest = text;
  TakeNumber(rest, steps.first);
  TakeNumber(rest, steps.end);
  TakeNumber(rest, steps.every);
  if (text.find(':') == std::string_view::npos || !rest.empty()) {
    throw ConfigError(fmt::format(
        "'{}' is not of the form FIRST:END[:EVERY]; 10:20 are steps 10 to 19, ::10 every tenth",
        text));
  }
  if (steps.first < 0 || steps.end <= steps.first || steps.every < 1) {
    throw ConfigError(
        fmt::format("'{}' are no steps; FIRST is 0 or more, END above it, EVERY 1 or more", text));
  }
  return steps;
}

std::string TimelineStepsText(const TimelineSteps& steps) {
  const TimelineSteps all;
  if (steps == all) return {};
  const std::string end = steps.end == all.end ? "" : fmt::format("{}", steps.end);
  const std::string every = steps.every == 1 ? "" : fmt::format(":{}", steps.every);
  return fmt::format("{}:{}{}", steps.first, end, every);
}

}  // namespace ringside

#ifndef RINGSIDE_EXPERIMENTS_TIMELINE_STEPS_H_
#define RINGSIDE_EXPERIMENTS_TIMELINE_STEPS_H_

#include <string>
#include <string_view>

#include "common/measure/timeline.h"

namespace ringside {

/// "FIRST:END[:EVERY]", END not included: "10:20" are steps 10 to 19, "::10" every tenth. What is
/// left away is the first, the last, every one; empty text: all steps. Throws `ConfigError`.
TimelineSteps ParseTimelineSteps(std::string_view text);
/// The text that `ParseTimelineSteps` takes; empty for all steps.
std::string TimelineStepsText(const TimelineSteps& steps);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_TIMELINE_STEPS_H_

#ifndef RINGSIDE_EXPERIMENTS_SPEC_TIMELINE_STEPS_H_
#define RINGSIDE_EXPERIMENTS_SPEC_TIMELINE_STEPS_H_

#include <string>
#include <string_view>

#include "ringside/common/measure/timeline.h"

namespace ringside {

/// Parses "FIRST:END[:EVERY]", END excluded: "10:20" means steps 10 to 19, "::10" every tenth step.
/// An omitted part means the first, last or every step; empty text all. Throws `ConfigError`.
TimelineSteps ParseTimelineSteps(std::string_view text);
/// The text that `ParseTimelineSteps` takes; empty for all steps.
std::string TimelineStepsText(const TimelineSteps& steps);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SPEC_TIMELINE_STEPS_H_

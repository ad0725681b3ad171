#ifndef RINGSIDE_EXPERIMENTS_DEMO_PAGE_WINDOW_H_
#define RINGSIDE_EXPERIMENTS_DEMO_PAGE_WINDOW_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "ringside/experiments/demo/recorded_run.h"

namespace ringside {

/// The part of a run that a page replays. Times are nanoseconds of the record.
struct PageWindow {
  struct Step {
    std::int64_t step = 0;
    std::int64_t begin = 0;  ///< The first worker begins it.
    std::int64_t end = 0;    ///< The first worker begins the next one, or all has ended.
  };
  std::vector<Step> steps;
  std::int64_t begin = 0;
  std::int64_t end = 0;

  bool Contains(std::int64_t from, std::int64_t to) const { return to >= begin && from <= end; }
};

/// Which steps a page shall replay.
struct PageSteps {
  std::optional<std::int64_t> first = {};  ///< Absent: the first one after the warm-up.
  std::int64_t most = 6;                   ///< At most as many.
  std::size_t most_events =
      30'000;  ///< At most as many spans, transfers and updates, but one step at least.
};

/// Chooses the window. Steps follow each other. Empty for a run without events. Throws `Error` when
/// the record lacks the step that was asked for.
PageWindow ChooseWindow(const RecordedRun& run, const PageSteps& wanted);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_DEMO_PAGE_WINDOW_H_

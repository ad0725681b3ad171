#ifndef RINGSIDE_EXPERIMENTS_DEMO_PAGE_DATA_H_
#define RINGSIDE_EXPERIMENTS_DEMO_PAGE_DATA_H_

#include <nlohmann/json.hpp>

#include "ringside/experiments/demo/page_window.h"
#include "ringside/experiments/demo/recorded_run.h"

namespace ringside {

/// A run as the page replays it: facts from its summary, and what happened in the window.
/// experiments/demo/page/README.md has the format. Times are microseconds since the window began.
/// Pure.
nlohmann::json PageRun(const RecordedRun& run, const PageWindow& window);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_DEMO_PAGE_DATA_H_

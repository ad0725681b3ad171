#ifndef RINGSIDE_EXPERIMENTS_DEMO_DEMO_PAGE_H_
#define RINGSIDE_EXPERIMENTS_DEMO_DEMO_PAGE_H_

#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ringside/experiments/demo/page_window.h"
#include "ringside/experiments/demo/recorded_run.h"

namespace ringside {

/// The version of the data that the page reads.
inline constexpr int kPageFormat = 1;
/// Browsers are slow with a larger page.
inline constexpr std::size_t kMostPageBytes = 2'000'000;

/// One self-contained HTML page that replays one or two runs, from the results of `PageRun`.
/// `command` made it. The Content-Security-Policy allows the page's own script alone, and no
/// network. Pure.
std::string RenderDemoPage(const std::vector<nlohmann::json>& runs, const std::string& command);

/// The same of recorded runs.
std::string RenderDemoPage(const std::vector<RecordedRun>& runs, const PageSteps& steps);
/// What to do about a page that is larger than `kMostPageBytes`; empty: it is not. A page shows a
/// step at least, however many events it has.
std::string PageSizeAdvice(const std::string& page);
/// Reads these bundles (`ReadRecordedRun`).
std::vector<RecordedRun> ReadRecordedRuns(const std::vector<std::filesystem::path>& bundles);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_DEMO_DEMO_PAGE_H_

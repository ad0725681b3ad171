#include "ringside/experiments/cli/matrix_view.h"

#include <utility>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/spec/bundle.h"

namespace ringside {
namespace {

// Without cursor movement the view shows one line per run.
Console::Options Suited(bool quiet) {
  Console::Options options = Console::ForStandardError(!quiet);
  options.show_progress = options.show_progress && options.in_place;
  return options;
}

nlohmann::json SummaryOrNothing(const std::filesystem::path& bundle) {
  try {
    return ReadSummary(bundle);
  } catch (const Error&) {
    return nullptr;
  }
}

}  // namespace

MatrixView::MatrixView(const MatrixPlan& plan, std::filesystem::path directory, bool quiet)
    : directory_(std::move(directory)), quiet_(quiet), console_(Suited(quiet)), table_(plan.runs) {}

void MatrixView::ShowLine(const std::string& line) {
  if (!quiet_) console_.Print(line);
}

void MatrixView::Skipped(const PlannedRun& run, const std::string& status) {
  if (console_.in_place()) table_.End(run, status, SummaryOrNothing(directory_ / run.id));
}

void MatrixView::Started(const PlannedRun& run) {
  table_.Start(run);
  console_.SetBlock(table_.Lines());
}

void MatrixView::Ended(const PlannedRun& run, const JobOutcome& outcome) {
  table_.End(run, JobStatusName(outcome.status), outcome.summary);
  console_.SetBlock(table_.Lines());
}

}  // namespace ringside

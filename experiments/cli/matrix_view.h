#ifndef RINGSIDE_EXPERIMENTS_CLI_MATRIX_VIEW_H_
#define RINGSIDE_EXPERIMENTS_CLI_MATRIX_VIEW_H_

#include <filesystem>
#include <string>

#include "experiments/job/console.h"
#include "experiments/job/signal_watch.h"
#include "experiments/matrix/live_table.h"
#include "experiments/matrix/matrix_runner.h"

namespace ringside {

/// Shows a matrix on standard error while it runs: a line per run, and on a terminal the table of
/// all combinations below, the progress of the run under way under it. Off a terminal, and under
/// NO_COLOR or TERM=dumb, the lines alone.
class MatrixView : public MatrixListener {
 public:
  MatrixView(const MatrixPlan& plan, std::filesystem::path directory, bool quiet);

  void Say(const std::string& line) override;
  void Skipped(const PlannedRun& run, const std::string& status) override;
  void Started(const PlannedRun& run) override;
  void Ended(const PlannedRun& run, const JobOutcome& outcome) override;
  bool Interrupted() override { return signals_.Take() > 0; }

  /// Where the jobs show their progress.
  Console& console() { return console_; }

 private:
  const std::filesystem::path directory_;
  const bool quiet_;
  SignalWatch signals_;
  Console console_;
  LiveTable table_;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_CLI_MATRIX_VIEW_H_

#ifndef RINGSIDE_EXPERIMENTS_CLI_MATRIX_VIEW_H_
#define RINGSIDE_EXPERIMENTS_CLI_MATRIX_VIEW_H_

#include <filesystem>
#include <string>

#include "ringside/experiments/matrix/live_table.h"
#include "ringside/experiments/matrix/matrix_runner.h"
#include "ringside/experiments/system/output/console.h"
#include "ringside/experiments/system/processes/signal_watch.h"

namespace ringside {

/// Shows a matrix on standard error while it runs: one line per run. On a terminal, the table of
/// all combinations follows, then the progress of the current run. Without a terminal, with
/// NO_COLOR or with TERM=dumb it shows the lines only.
class MatrixView : public MatrixListener {
 public:
  MatrixView(const MatrixPlan& plan, std::filesystem::path directory, bool quiet);

  void ShowLine(const std::string& line) override;
  void Skipped(const PlannedRun& run, const std::string& status) override;
  void Started(const PlannedRun& run) override;
  void Ended(const PlannedRun& run, const JobOutcome& outcome) override;
  bool Interrupted() override { return signals_.Take() > 0; }

  /// The console on which the jobs show their progress.
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

#ifndef RINGSIDE_EXPERIMENTS_MATRIX_LIVE_TABLE_H_
#define RINGSIDE_EXPERIMENTS_MATRIX_LIVE_TABLE_H_

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ringside/experiments/matrix/matrix_plan.h"

namespace ringside {

/// The progress of a matrix: one line per combination with the repetitions that are done, failed
/// and left, and their median step time. Once the machine limited a run, a column counts such runs;
/// the median leaves them out, and is marked when there are no others. A value; it prints nothing
/// itself.
class LiveTable {
 public:
  explicit LiveTable(const std::vector<PlannedRun>& runs);

  void Start(const PlannedRun& run);
  /// Records a run that ended, now or earlier. `summary` is null where there is none.
  void End(const PlannedRun& run, const std::string& status, const nlohmann::json& summary);

  /// The text lines, heading first. '>' marks the combination that runs now.
  std::vector<std::string> Lines() const;

 private:
  struct Row {
    std::string label;
    int done = 0;
    int failed = 0;
    int left = 0;
    int limited = 0;  ///< Of `done`.
    std::vector<double> step_ms{};
    std::vector<double> limited_step_ms{};
  };
  static std::string StepText(const Row& row);
  Row& RowOf(const PlannedRun& run);

  std::vector<Row> rows_;  // by label
  std::string running_;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_MATRIX_LIVE_TABLE_H_

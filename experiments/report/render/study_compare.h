#ifndef RINGSIDE_EXPERIMENTS_REPORT_RENDER_STUDY_COMPARE_H_
#define RINGSIDE_EXPERIMENTS_REPORT_RENDER_STUDY_COMPARE_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ringside/experiments/report/study/study_table.h"
#include "ringside/experiments/statistics/comparison.h"

namespace ringside {

/// One configuration in both studies.
struct ComparedCell {
  std::string label;
  std::optional<double> a;  ///< Medians over runs.
  std::optional<double> b;
  Comparison b_over_a;  ///< Unpaired, because runs of two studies were not interleaved.
  int failed_a = 0;     ///< Failed runs, which no median counts.
  int failed_b = 0;
  int limited_a = 0;  ///< Finished runs that the machine limited. No ratio counts them.
  int limited_b = 0;
  /// "better" or "worse" (B compared with A) when it differs; "tie" (`TieOf`); "same" when the
  /// difference is more than a tie, but not past the threshold; "missing" when only A has such a
  /// number; "new" when only B has one; "unknown" when neither has; "limited" when the machine
  /// limited every run of a side, so that nothing is compared.
  std::string outcome;
  /// True when the ratio is past the threshold and its interval does not contain 1; without an
  /// interval, when the ratio is no tie. Also true when only one side has a number, or A's number
  /// is zero and B's is not.
  bool differs = false;
};

struct StudyComparison {
  std::string name_a;
  std::string name_b;
  std::string metric;
  double threshold = 0;  ///< The largest distance of a ratio from 1 that counts as the same.
  std::vector<ComparedCell> cells;
  std::vector<std::string> only_in_a;  ///< Labels.
  std::vector<std::string> only_in_b;
  bool differ = false;  ///< Whether any cell differs. Cells with the outcome "limited" do not.
  bool nothing_compared = false;  ///< Every cell has the outcome "limited".
};

/// The numbers that can be compared, by their names in JSON.
std::vector<std::string_view> ComparableMetrics();

/// Compares the cells of two studies whose resolved specs are the same, apart from seeds and
/// repetitions. Fewer than five runs on a side give no interval. `metric`
/// is one of `ComparableMetrics`. Pure. Throws `Error` when the studies share no configuration.
StudyComparison CompareStudies(const StudyTable& a, const StudyTable& b, std::string_view metric,
                               double threshold);

/// The comparison as text for people.
std::string RenderText(const StudyComparison& comparison);
/// The comparison as JSON, every field under its own name; `schema` is "ringside.compare/1".
nlohmann::json RenderJson(const StudyComparison& comparison);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_RENDER_STUDY_COMPARE_H_

#ifndef RINGSIDE_EXPERIMENTS_REPORT_STUDY_COMPARE_H_
#define RINGSIDE_EXPERIMENTS_REPORT_STUDY_COMPARE_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/report/study_table.h"
#include "experiments/statistics/comparison.h"

namespace ringside {

/// One configuration in both studies.
struct ComparedCell {
  std::string label;
  std::optional<double> a;  ///< Medians over runs.
  std::optional<double> b;
  Comparison b_over_a;  ///< Each with each: runs of two studies were not interleaved.
  int failed_a = 0;     ///< Runs that are in no median.
  int failed_b = 0;
  /// "same", "better", "worse" (B as A sees it), "missing" where A alone has such a number, "new"
  /// where B alone has, "unknown" where neither has.
  std::string outcome;
  /// The ratio is past the threshold, and its interval leaves out 1; also where one side alone has
  /// a number, and where A's is zero and B's is not.
  bool differs = false;
};

struct StudyComparison {
  std::string name_a;
  std::string name_b;
  std::string metric;
  double threshold = 0;  ///< Of the ratio's distance from 1.
  std::vector<ComparedCell> cells;
  std::vector<std::string> only_in_a;  ///< Labels.
  std::vector<std::string> only_in_b;
  bool differ = false;  ///< Any cell does.
};

/// The numbers that can be compared, by their names in JSON.
std::vector<std::string_view> ComparableMetrics();

/// Cells are the same where their resolved specs are, seeds and repetitions left out. With fewer
/// than five runs on a side there is no interval and the points decide. `metric` is one of
/// `ComparableMetrics`. Pure. Throws `Error` where the studies share no configuration.
StudyComparison CompareStudies(const StudyTable& a, const StudyTable& b, std::string_view metric,
                               double threshold);

/// For people.
std::string RenderText(const StudyComparison& comparison);
/// Every field under its own name; `schema` is "ringside.compare/1".
nlohmann::json RenderJson(const StudyComparison& comparison);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_STUDY_COMPARE_H_

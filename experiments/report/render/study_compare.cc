#include "ringside/experiments/report/render/study_compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/report/cells/condition_text.h"
#include "ringside/experiments/report/cells/study_fidelity.h"
#include "ringside/experiments/report/cells/study_numbers.h"
#include "ringside/experiments/report/cells/study_scaling.h"
#include "ringside/experiments/report/render/study_render.h"
#include "ringside/experiments/report/render/text_table.h"
#include "ringside/experiments/report/study/study_ties.h"

namespace ringside {
namespace {

using nlohmann::json;

constexpr char kLimited[] = "limited";
constexpr char kTie[] = "tie";
constexpr char kSchema[] = "ringside.compare/1";
// For all other numbers, less is better.
constexpr std::array<std::string_view, 2> kMoreIsBetter{"samples_per_s", "accuracy"};

const MedianNumber& NumberOf(std::string_view metric) {
  const auto found = std::ranges::find(kMedianNumbers, metric, &MedianNumber::name);
  if (found == kMedianNumbers.end()) throw InternalError("no metric " + std::string(metric));
  return *found;
}

std::string LabelOf(const StudyCell& cell) {
  std::string label = fmt::format("{}, {} {}", StrategyText(cell), cell.workers,
                                  cell.workers == 1 ? "worker" : "workers");
  std::vector<std::string> conditions;
  for (const auto& [name, condition] : cell.conditions) conditions.push_back(condition);
  return label + AfterNoun(std::move(conditions));
}

std::vector<double> ValuesOf(const StudyCell& cell, std::optional<double> StudyRun::*number) {
  std::vector<double> values;
  for (const StudyRun* run : CountedRuns(cell)) {
    const std::optional<double>& value = run->*number;
    if (value) values.push_back(*value);
  }
  return values;
}

std::string OutcomeOf(const ComparedCell& cell, std::string_view metric) {
  if (!cell.a && !cell.b) return "unknown";
  if (!cell.b) return "missing";
  if (!cell.a) return "new";
  if (!cell.differs) return IsTie(cell.b_over_a) ? kTie : "same";
  const bool more = *cell.b > *cell.a;
  const bool more_is_better = std::ranges::find(kMoreIsBetter, metric) != kMoreIsBetter.end();
  return more == more_is_better ? "better" : "worse";
}

// With an interval the caller's threshold decides what is small.
bool IsUndecided(const Comparison& comparison) {
  if (!comparison.interval) return IsTie(comparison);
  return comparison.interval->low <= 1 && comparison.interval->high >= 1;
}

bool Differs(const ComparedCell& cell, double threshold) {
  // A missing ratio does not mean that both are equal: all runs of one side may have failed, or A's
  // number is zero.
  if (!cell.b_over_a.ratio) return cell.a != cell.b;
  const Comparison& comparison = cell.b_over_a;
  return std::abs(*comparison.ratio - 1) > threshold && !IsUndecided(comparison);
}

ComparedCell CompareCell(const StudyCell& a, const StudyCell& b, std::string_view metric,
                         double threshold) {
  const MedianNumber& number = NumberOf(metric);
  ComparedCell cell;
  cell.label = LabelOf(a);
  cell.a = a.*number.cell;
  cell.b = b.*number.cell;
  cell.limited_a = a.limited;
  cell.limited_b = b.limited;
  cell.failed_a = a.failed;
  cell.failed_b = b.failed;
  if (IsAllLimited(a) || IsAllLimited(b)) {
    cell.outcome = kLimited;
    return cell;
  }
  cell.b_over_a = CompareIndependent(ValuesOf(b, number.run), ValuesOf(a, number.run));
  cell.differs = Differs(cell, threshold);
  cell.outcome = OutcomeOf(cell, metric);
  return cell;
}

const StudyCell* FindCell(const StudyTable& table, const std::string& configuration) {
  const auto found = std::ranges::find(table.cells, configuration, &StudyCell::configuration);
  return found == table.cells.end() ? nullptr : &*found;
}

std::vector<std::string> OnlyIn(const StudyTable& table, const StudyTable& other) {
  std::vector<std::string> labels;
  for (const StudyCell& cell : table.cells) {
    if (FindCell(other, cell.configuration) == nullptr) labels.push_back(LabelOf(cell));
  }
  return labels;
}

std::string NumberText(const std::optional<double>& value) {
  return value ? fmt::format("{:.5g}", *value) : "-";
}

std::string IntervalText(const Comparison& comparison) {
  if (!comparison.interval) return "points only";
  return fmt::format("{:.3f}..{:.3f}", comparison.interval->low, comparison.interval->high);
}

bool AnyLimited(const StudyComparison& comparison) {
  return std::ranges::any_of(comparison.cells, [](const ComparedCell& cell) {
    return cell.limited_a > 0 || cell.limited_b > 0;
  });
}

std::string LimitedText(const StudyComparison& comparison) {
  if (!AnyLimited(comparison)) return "";
  const auto whole = std::ranges::count(comparison.cells, kLimited, &ComparedCell::outcome);
  std::string text = "limited: runs for which the machine was too slow. No ratio counts them.";
  if (whole > 0) {
    text += fmt::format(
        " {} of {} configurations {} not compared: the machine limited every run of a side.", whole,
        comparison.cells.size(), whole == 1 ? "is" : "are");
  }
  return text + '\n';
}

std::string CellsText(const StudyComparison& comparison) {
  using Align = TextTable::Align;
  const bool limited = AnyLimited(comparison);
  std::vector<TextTable::Column> columns{{"configuration", Align::kLeft},
                                         {"A"},
                                         {"B"},
                                         {"B/A"},
                                         {"95 %\ninterval"},
                                         {"P(B > A)"},
                                         {"runs"},
                                         {"failed\nin A"},
                                         {"failed\nin B"}};
  if (limited) columns.insert(columns.end(), {{"limited\nin A"}, {"limited\nin B"}});
  columns.push_back({"B is", Align::kLeft});
  TextTable text(std::move(columns));
  for (const ComparedCell& cell : comparison.cells) {
    const Comparison& ratio = cell.b_over_a;
    std::vector<std::string> row{cell.label,
                                 NumberText(cell.a),
                                 NumberText(cell.b),
                                 ratio.ratio ? fmt::format("{:.3f}", *ratio.ratio) : "-",
                                 cell.outcome == kLimited ? "-" : IntervalText(ratio),
                                 ratio.p_greater ? fmt::format("{:.2f}", *ratio.p_greater) : "-",
                                 std::to_string(ratio.runs),
                                 std::to_string(cell.failed_a),
                                 std::to_string(cell.failed_b)};
    if (limited) {
      row.push_back(std::to_string(cell.limited_a));
      row.push_back(std::to_string(cell.limited_b));
    }
    row.push_back(cell.outcome);
    text.AddRow(std::move(row));
  }
  return text.Render();
}

std::string OnlyText(const char* name, const std::vector<std::string>& labels) {
  if (labels.empty()) return "";
  std::string out = fmt::format("\nOnly in {}:\n", name);
  for (const std::string& label : labels) out += "  " + label + '\n';
  return out;
}

json OrNull(const std::optional<double>& value) { return value ? json(*value) : json(nullptr); }

}  // namespace

std::vector<std::string_view> ComparableMetrics() {
  std::vector<std::string_view> names;
  for (const MedianNumber& number : kMedianNumbers) names.emplace_back(number.name);
  return names;
}

StudyComparison CompareStudies(const StudyTable& a, const StudyTable& b, std::string_view metric,
                               double threshold) {
  StudyComparison comparison{a.name, b.name, std::string(metric), threshold, {}, {}, {}};
  for (const StudyCell& cell : a.cells) {
    const StudyCell* other = FindCell(b, cell.configuration);
    if (other != nullptr) {
      comparison.cells.push_back(CompareCell(cell, *other, metric, threshold));
    }
  }
  if (comparison.cells.empty()) {
    throw Error(fmt::format("{} and {} have no configuration in common: nothing can be compared",
                            a.name, b.name));
  }
  comparison.only_in_a = OnlyIn(a, b);
  comparison.only_in_b = OnlyIn(b, a);
  comparison.differ = std::ranges::any_of(comparison.cells, &ComparedCell::differs);
  comparison.nothing_compared = std::ranges::all_of(
      comparison.cells, [](std::string_view outcome) { return outcome == kLimited; },
      &ComparedCell::outcome);
  return comparison;
}

std::string RenderText(const StudyComparison& comparison) {
  const auto differing = std::ranges::count_if(comparison.cells, &ComparedCell::differs);
  return fmt::format("{} of A ({}) and B ({}), medians over runs\n\n", comparison.metric,
                     comparison.name_a, comparison.name_b) +
         CellsText(comparison) + OnlyText("A", comparison.only_in_a) +
         OnlyText("B", comparison.only_in_b) +
         fmt::format(
             "\n{} of {} configurations differ by more than {:.3g} % and are no tie, or have no "
             "ratio: only one side has a number, or A's is zero.\n"
             "tie: the difference is smaller than its uncertainty, or than {:.0f} %. same: it is "
             "larger than that, but not than {:.3g} %.\n",
             differing, comparison.cells.size(), comparison.threshold * 100, kEqualMargin * 100,
             comparison.threshold * 100) +
         "points only: a side has fewer than five runs, so there is no interval.\n" +
         LimitedText(comparison);
}

json RenderJson(const StudyComparison& comparison) {
  json cells = json::array();
  for (const ComparedCell& cell : comparison.cells) {
    cells.push_back({{"label", cell.label},
                     {"a", OrNull(cell.a)},
                     {"b", OrNull(cell.b)},
                     {"b_over_a", JsonOf(cell.b_over_a)},
                     {"failed_a", cell.failed_a},
                     {"failed_b", cell.failed_b},
                     {"limited_a", cell.limited_a},
                     {"limited_b", cell.limited_b},
                     {"outcome", cell.outcome},
                     {"differs", cell.differs}});
  }
  return {{"schema", kSchema},
          {"a", comparison.name_a},
          {"b", comparison.name_b},
          {"metric", comparison.metric},
          {"threshold", comparison.threshold},
          {"cells", cells},
          {"only_in_a", comparison.only_in_a},
          {"only_in_b", comparison.only_in_b},
          {"differ", comparison.differ},
          {"nothing_compared", comparison.nothing_compared}};
}

}  // namespace ringside

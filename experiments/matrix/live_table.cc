#include "ringside/experiments/matrix/live_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/spec/bundle.h"

namespace ringside {
namespace {

constexpr std::string_view kHeading = "combination";

std::string MedianText(std::vector<double> values) {
  if (values.empty()) return "-";
  const std::size_t middle = values.size() / 2;
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(middle));
  if (values.size() % 2 == 1) return fmt::format("{:.1f}", values[middle]);
  const double lower =
      *std::max_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(middle));
  return fmt::format("{:.1f}", (lower + values[middle]) / 2);
}

}  // namespace

LiveTable::LiveTable(const std::vector<PlannedRun>& runs) {
  for (const PlannedRun& run : runs) {
    if (std::ranges::find(rows_, run.cell, &Row::label) == rows_.end()) rows_.push_back({run.cell});
  }
  std::ranges::sort(rows_, {}, &Row::label);
  for (const PlannedRun& run : runs) ++RowOf(run).left;
}

LiveTable::Row& LiveTable::RowOf(const PlannedRun& run) {
  const auto row = std::ranges::lower_bound(rows_, run.cell, {}, &Row::label);
  if (row == rows_.end() || row->label != run.cell) throw InternalError("no row " + run.cell);
  return *row;
}

std::string LiveTable::StepText(const Row& row) {
  if (!row.step_ms.empty() || row.limited_step_ms.empty()) return MedianText(row.step_ms);
  return MedianText(row.limited_step_ms) + '!';
}

void LiveTable::Start(const PlannedRun& run) { running_ = run.cell; }

void LiveTable::End(const PlannedRun& run, const std::string& status,
                    const nlohmann::json& summary) {
  running_.clear();
  if (status == "interrupted") return;
  Row& row = RowOf(run);
  --row.left;
  ++(status == "done" ? row.done : row.failed);
  const bool limited = !LimitOf(summary).empty();
  if (limited) ++row.limited;
  const nlohmann::json::json_pointer median("/step_ms/median");
  if (status == "done" && summary.contains(median) && summary.at(median).is_number()) {
    (limited ? row.limited_step_ms : row.step_ms).push_back(summary.at(median).get<double>());
  }
}

std::vector<std::string> LiveTable::Lines() const {
  std::size_t width = kHeading.size();
  for (const Row& row : rows_) width = std::max(width, row.label.size());
  const bool any_limited =
      std::ranges::any_of(rows_, [](const Row& row) { return row.limited > 0; });
  const auto line = [&](bool marked, std::string_view label, const auto& done, const auto& failed,
                        const auto& limited, const auto& left, const std::string& step) {
    const std::string count = any_limited ? fmt::format("{:>9}", limited) : "";
    return fmt::format("{} {:<{}}{:>6}{:>8}{}{:>6}{:>10}", marked ? '>' : ' ', label, width, done,
                       failed, count, left, step);
  };
  std::vector<std::string> lines{
      line(false, kHeading, "done", "failed", "limited", "left", "step ms")};
  for (const Row& row : rows_) {
    lines.push_back(line(row.label == running_, row.label, row.done, row.failed, row.limited,
                         row.left, StepText(row)));
  }
  return lines;
}

}  // namespace ringside

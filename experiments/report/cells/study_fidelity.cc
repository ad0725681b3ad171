#include "ringside/experiments/report/cells/study_fidelity.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

namespace ringside {
namespace {

/// One kind of limit, as "the processor", in some runs.
struct Limit {
  std::string cause;
  std::string detail;  ///< Of its first run.
  std::size_t runs = 0;
};

/// Splits "the processor: 4 % idle" at its first colon.
std::pair<std::string, std::string> Split(const std::string& text) {
  const std::size_t colon = text.find(": ");
  if (colon == std::string::npos) return {text, ""};
  return {text.substr(0, colon), text.substr(colon + 2)};
}

/// Why a run takes no part in verdicts; empty if it does.
std::vector<std::string> CausesOf(const StudyRun& run) {
  if (!run.fidelity) return {};
  std::vector<std::string> causes = run.fidelity->limited_by;
  if (run.fidelity->verdict == FidelityVerdict::kLimited && causes.empty()) {
    causes.emplace_back("limited by something that its summary does not name");
  }
  if (run.fidelity->verdict == FidelityVerdict::kNotJudged) {
    causes.push_back("not judged: " + run.fidelity->not_judged);
  }
  return causes;
}

std::vector<Limit> LimitsOf(const std::vector<const StudyRun*>& runs) {
  std::vector<Limit> limits;
  for (const StudyRun* run : runs) {
    for (const std::string& text : CausesOf(*run)) {
      auto [cause, detail] = Split(text);
      auto limit = std::ranges::find(limits, cause, &Limit::cause);
      if (limit == limits.end()) {
        limit = limits.insert(limit, {std::move(cause), std::move(detail), 0});
      }
      ++limit->runs;
    }
  }
  return limits;
}

std::string TextOf(const Limit& limit, std::size_t runs) {
  if (runs == 1) {
    return limit.detail.empty() ? limit.cause : fmt::format("{}: {}", limit.cause, limit.detail);
  }
  std::string text = fmt::format("{} in {} of {} runs", limit.cause, limit.runs, runs);
  if (limit.detail.empty()) return text;
  return text + fmt::format(" ({}{})", limit.runs > 1 ? "one of them: " : "", limit.detail);
}

using RowKey = std::tuple<double, std::optional<int>, std::optional<int>, std::string>;

void AddNew(const std::vector<std::string>& texts, std::vector<std::string>& all) {
  for (const std::string& text : texts) {
    if (std::ranges::find(all, text) == all.end()) all.push_back(text);
  }
}

void AddRun(const StudyRun& run, const RunDilation& dilation, DilationRow& row) {
  row.factor = dilation.factor;
  row.asked = dilation.asked;
  row.cores = dilation.cores;
  row.hosts = dilation.hosts;
  row.equivalent_cores_per_host = dilation.equivalent_cores_per_host;
  ++row.runs;
  if (IsDoneButLimited(run)) ++row.limited;
  row.train_seconds += run.train_seconds.value_or(0);
  row.wall_seconds += run.wall_seconds.value_or(0);
}

}  // namespace

bool IsDone(const StudyRun& run) { return run.status == "done"; }

bool IsLimited(const StudyRun& run) { return !CausesOf(run).empty(); }

bool IsDoneButLimited(const StudyRun& run) { return IsDone(run) && IsLimited(run); }

std::vector<const StudyRun*> DoneRuns(const StudyCell& cell) {
  std::vector<const StudyRun*> done;
  for (const StudyRun& run : cell.results) {
    if (IsDone(run)) done.push_back(&run);
  }
  return done;
}

std::vector<const StudyRun*> CountedRuns(const StudyCell& cell) {
  std::vector<const StudyRun*> counted = DoneRuns(cell);
  if (!IsAllLimited(cell)) {
    std::erase_if(counted, [](const StudyRun* run) { return IsLimited(*run); });
  }
  return counted;
}

bool IsAllLimited(const StudyCell& cell) {
  const auto done = std::ranges::count_if(cell.results, IsDone);
  return done > 0 && std::ranges::count_if(cell.results, IsDoneButLimited) == done;
}

bool LimitedEveryRun(const std::vector<StudyCell>& cells) {
  bool any = false;
  for (const StudyCell& cell : cells) {
    if (cell.runs > 0 && !IsAllLimited(cell)) return false;
    any = any || cell.runs > 0;
  }
  return any;
}

std::string LimitsText(const std::vector<const StudyRun*>& runs) {
  std::vector<std::string> texts;
  for (const Limit& limit : LimitsOf(runs)) texts.push_back(TextOf(limit, runs.size()));
  return fmt::format("{}", fmt::join(texts, "; "));
}

std::string DilationText(const StudyCell& cell) {
  std::set<double> factors;
  for (const StudyRun& run : cell.results) {
    if (run.dilation) factors.insert(run.dilation->factor);
  }
  if (factors.empty()) return "";
  if (factors.size() == 1) return fmt::format("{:g}", *factors.begin());
  return fmt::format("{:g} to {:g}", *factors.begin(), *factors.rbegin());
}

bool HasDilation(const std::vector<StudyCell>& cells) {
  return std::ranges::any_of(cells, [](const StudyCell& cell) {
    return std::ranges::any_of(cell.results, [](const StudyRun& run) {
      return run.dilation && run.dilation->factor != 1;
    });
  });
}

StudyDilation DilationOf(const std::vector<StudyCell>& cells) {
  StudyDilation dilation;
  std::map<RowKey, DilationRow> rows;
  for (const StudyCell& cell : cells) {
    for (const StudyRun& run : cell.results) {
      if (!run.dilation) continue;
      const RunDilation& own = *run.dilation;
      AddRun(run, own, rows[{own.factor, own.hosts, own.cores, own.asked}]);
      AddNew(own.scaled, dilation.scaled);
      AddNew(own.not_scaled, dilation.not_scaled);
    }
  }
  for (auto& [key, row] : rows) dilation.rows.push_back(std::move(row));
  return dilation;
}

}  // namespace ringside

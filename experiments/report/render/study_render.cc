#include "ringside/experiments/report/render/study_render.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <string_view>

#include "ringside/experiments/report/cells/condition_text.h"
#include "ringside/experiments/report/cells/study_constants.h"
#include "ringside/experiments/report/cells/study_fidelity.h"
#include "ringside/experiments/report/cells/study_scaling.h"
#include "ringside/experiments/report/render/held_out.h"
#include "ringside/experiments/report/render/text_table.h"
#include "ringside/experiments/spec/bundle.h"
#include "ringside/experiments/text/units.h"

namespace ringside {
namespace {

using Member = std::optional<double> StudyCell::*;

// A number of a cell: its name in JSON, the title of its column, and its format for people.
struct Number {
  const char* name;
  const char* title;
  Member member;
  std::string (*text)(double value);
};

template <int digits>
std::string Fixed(double value) {
  return fmt::format("{:.{}f}", value, digits);
}
std::string Percent(double value) { return fmt::format("{:.1f} %", value * 100); }

std::string Milli(double value) { return fmt::format("{:.3g}", value * 1000); }

constexpr std::array kTimes{
    Number{"step_ms", "step\nms", &StudyCell::step_ms, Fixed<2>},
    Number{"exposed_comm_ms", "exposed\nms", &StudyCell::exposed_comm_ms, Fixed<2>},
    Number{"samples_per_s", "samples\n/s", &StudyCell::samples_per_s, Fixed<0>},
    Number{"speedup", "speed-\nup", &StudyCell::speedup, Fixed<2>},
    Number{"efficiency", "effi-\nciency", &StudyCell::efficiency, Percent},
    Number{"bytes_per_step", "sent\n/step", &StudyCell::bytes_per_step, FormatBytes},
    Number{"bound_bytes_per_step", "bound\n/step", &StudyCell::bound_bytes_per_step, FormatBytes},
    Number{"bound_ms", "bound\nms", &StudyCell::bound_ms, Fixed<2>},
    Number{"bound_ratio", "step/\nbound", &StudyCell::bound_ratio, Fixed<2>},
    Number{"achievable_ratio", "step/\nachievable", &StudyCell::achievable_ratio, Fixed<2>},
    Number{"accuracy", "accu-\nracy", &StudyCell::accuracy, Percent},
    Number{"test_loss", "test\nloss", &StudyCell::test_loss, Fixed<4>},
    Number{"train_loss", "train\nloss", &StudyCell::loss, Fixed<4>},
    Number{"staleness_mean", "stale-\nness", &StudyCell::staleness_mean, Fixed<2>},
};

constexpr std::array kCosts{
    Number{"core_seconds_per_sample", "core ms\n/sample", &StudyCell::core_seconds_per_sample,
           Milli},
    Number{"nic_bytes_per_sample", "NIC\n/sample", &StudyCell::nic_bytes_per_sample, FormatBytes},
    Number{"nic_bytes_per_sample_servers", "servers'\npart",
           &StudyCell::nic_bytes_per_sample_servers, FormatBytes},
    Number{"serial_fraction", "serial\nfraction", &StudyCell::serial_fraction, Percent},
    Number{"seconds_to_target", "to target\ns", &StudyCell::seconds_to_target, Fixed<2>},
    Number{"epochs_to_target", "to target\nepochs", &StudyCell::epochs_to_target, Fixed<2>},
};

// The numbers whose intervals have a column beside them.
constexpr std::array<std::string_view, 2> kWithInterval{"step_ms", "bound_ratio"};

std::string ServersText(const StudyCell& cell) {
  if (cell.servers == 0) return "-";
  return fmt::format("{}{}", cell.servers, cell.colocated ? " col." : "");
}

std::string TransportText(const StudyTable& table, const StudyCell& cell) {
  if (cell.transport.empty()) return "-";
  return cell.transport + (MixesTransports(table) ? " *" : "");
}

std::string FactorText(const StudyCell& cell) {
  const std::string text = DilationText(cell);
  return text.empty() ? "-" : text;
}

bool HasInterval(const StudyTable& table, std::string_view name) {
  if (std::ranges::find(kWithInterval, name) == kWithInterval.end()) return false;
  return std::ranges::any_of(table.cells, [&](const StudyCell& cell) {
    return cell.intervals.contains(std::string(name));
  });
}

std::string IntervalText(const StudyCell& cell, const Number& number) {
  const auto found = cell.intervals.find(number.name);
  if (found == cell.intervals.end()) return "-";
  return number.text(found->second.low) + ".." + number.text(found->second.high);
}

// Leaves out the columns that no cell fills.
std::vector<Number> FilledNumbers(const StudyTable& table, std::span<const Number> numbers) {
  std::vector<Number> filled;
  for (const Number& number : numbers) {
    const auto has = [&](const StudyCell& cell) { return (cell.*number.member).has_value(); };
    const bool shown = number.member != &StudyCell::test_loss || ShowsTestLoss(table);
    if (shown && std::ranges::any_of(table.cells, has)) filled.push_back(number);
  }
  return filled;
}

std::string RunsText(const StudyCell& cell) {
  std::string text = std::to_string(cell.runs);
  if (cell.failed > 0) text += fmt::format("+{} failed", cell.failed);
  const auto outliers = std::ranges::count_if(cell.results, &StudyRun::outlier);
  std::vector<std::string> marks;
  if (outliers > 0) marks.push_back(fmt::format("{} out", outliers));
  if (IsAllLimited(cell)) {
    marks.emplace_back("all limited");
  } else if (cell.limited > 0) {
    marks.push_back(fmt::format("{} limited", cell.limited));
  }
  return marks.empty() ? text : fmt::format("{} ({})", text, fmt::join(marks, ", "));
}

std::string NumberText(const StudyCell& cell, const Number& number) {
  const std::optional<double>& value = cell.*number.member;
  if (!value) return "-";
  const bool flagged = !cell.bound_flag.empty() && number.member == &StudyCell::bound_ratio;
  return number.text(*value) + (flagged ? " !" : "");
}

// A table with one row per cell: the columns that name the cell, then the numbers.
std::string CellsText(const StudyTable& table, const std::vector<Number>& numbers) {
  using Align = TextTable::Align;
  std::vector<TextTable::Column> columns;
  for (const std::string& key : table.varied_keys) {
    columns.push_back({KeyTitle(key), Align::kLeft});
  }
  columns.push_back({"strategy", Align::kLeft});
  columns.push_back({"workers"});
  columns.push_back({"servers"});
  const bool transports = HasTransports(table);
  if (transports) columns.push_back({"transport", Align::kLeft});
  const bool dilated = HasDilation(table.cells);
  if (dilated) columns.push_back({"dilation\nfactor"});
  columns.push_back({"runs"});
  for (const Number& number : numbers) {
    columns.push_back({number.title});
    if (HasInterval(table, number.name)) columns.push_back({"95 %\ninterval"});
  }
  const bool timed = std::ranges::any_of(
      numbers, [](const Number& number) { return number.member == &StudyCell::step_ms; });
  const std::vector<std::string> metrics = timed ? MetricNames(table) : std::vector<std::string>();
  for (const std::string& name : metrics) columns.push_back({name});
  TextTable text(std::move(columns));
  for (const StudyCell& cell : table.cells) {
    std::vector<std::string> row;
    for (const std::string& key : table.varied_keys) row.push_back(VariedText(cell, key));
    row.push_back(cell.strategy);
    row.push_back(std::to_string(cell.workers));
    row.push_back(ServersText(cell));
    if (transports) row.push_back(TransportText(table, cell));
    if (dilated) row.push_back(FactorText(cell));
    row.push_back(RunsText(cell));
    for (const Number& number : numbers) {
      row.push_back(NumberText(cell, number));
      if (HasInterval(table, number.name)) row.push_back(IntervalText(cell, number));
    }
    for (const std::string& name : metrics) row.push_back(MetricText(cell, name, "-"));
    text.AddRow(std::move(row));
    if (timed && IsAllLimited(cell)) {
      text.AddNote(fmt::format("    ! limited by the machine: {}", LimitsText(DoneRuns(cell))));
    }
    const bool bound = std::ranges::any_of(
        numbers, [](const Number& number) { return number.member == &StudyCell::bound_ms; });
    if (bound && !cell.bound_explanation.empty()) {
      text.AddNote(
          fmt::format("    {} {}", cell.bound_flag.empty() ? "^" : "!", cell.bound_explanation));
    }
  }
  return text.Render();
}

bool AnyLimited(const StudyTable& table) {
  return std::ranges::any_of(table.cells, [](const StudyCell& cell) { return cell.limited > 0; });
}

bool AnyFlag(const StudyTable& table) {
  return std::ranges::any_of(table.cells,
                             [](const StudyCell& cell) { return !cell.bound_flag.empty(); });
}

bool AnyInterval(const StudyTable& table) {
  return std::ranges::any_of(table.cells,
                             [](const StudyCell& cell) { return !cell.intervals.empty(); });
}

std::string Legend(const StudyTable& table) {
  std::string out =
      "Medians over runs. exposed: the time that a step waits for communication. sent: the bytes "
      "that a\nworker's sockets send in a step. bound: the least that theory allows the strategy.";
  std::set<std::string> baselines;
  for (const StudyCell& cell : table.cells) {
    if (!cell.baseline.empty()) baselines.insert(cell.baseline);
  }
  if (std::ranges::any_of(table.cells,
                          [](const StudyCell& cell) { return cell.achievable_ms.has_value(); })) {
    out += "\nachievable: a step over ideal links when buckets are sent in the strategy's order.";
  }
  if (baselines.empty()) {
    out += " No speed-up: no run has a single worker.";
  } else {
    out += fmt::format(" Speed-up: samples/s over the best single worker ({}).",
                       fmt::join(baselines, "; "));
  }
  if (AnyInterval(table)) {
    out += fmt::format("\nIntervals: {} of the median, {} resamples; none with fewer than {} runs.",
                       table.method.interval, table.method.resamples, table.method.minimum_runs);
  }
  if (AnyFlag(table)) {
    out +=
        "\n! More than 1.15 times the bound or 1.05 times the achievable step, or less than the "
        "bound. The reason is below the row, as far as the runs recorded it.";
  }
  if (MixesTransports(table)) {
    out += "\n* Rows over different transports compare transports as well as strategies.";
  }
  if (AnyLimited(table)) {
    out +=
        "\nlimited: the machine was too slow for the run, which takes no part in verdicts. A row's "
        "numbers come from its other runs, or from all runs if every one is limited.";
  }
  if (HasDilation(table.cells)) {
    out +=
        "\nTimes are in dilated time: one second of it is as many seconds of the machine as the "
        "dilation factor says.";
  }
  return out + '\n';
}

std::string CostsText(const StudyTable& table) {
  const std::vector<Number> numbers = FilledNumbers(table, kCosts);
  if (numbers.empty()) return "";
  std::string out = "\nCosts and scaling\n\n" + CellsText(table, numbers);
  out +=
      "\nCosts are of workers and dedicated servers together. cores: processor time over the whole "
      "lives of the processes.\nNIC: bytes of all hosts in both directions. "
      "serial fraction: of Karp and Flatt.";
  if (table.target.accuracy) {
    out += fmt::format(
        " Target: accuracy {:.2f} % ({}).\nA run that never reached it counts as "
        "infinitely long.",
        *table.target.accuracy * 100, table.target.origin);
  }
  return out + '\n';
}

std::string FindingsText(const StudyTable& table) {
  const bool nothing = table.findings.empty() && table.verdict.details.empty();
  if (nothing && !AnyLimited(table)) return "";
  std::string out;
  if (!table.findings.empty()) out += "\nServers against rings, the best of each:\n";
  for (const Finding& finding : table.findings) {
    out +=
        fmt::format("  {}{}\n", finding.synchronous_only ? "synchronous: " : "", finding.sentence);
  }
  out += '\n' + table.verdict.sentence + '\n';
  for (const std::string& detail : table.verdict.details) out += "  " + detail + '\n';
  for (const std::string& caveat : table.verdict.caveats) out += "  " + caveat + '\n';
  return out;
}

std::string ClaimsText(const StudyTable& table) {
  if (table.claims.empty()) return "";
  std::string out = "\nCommon claims, tested by these runs:\n";
  const std::string* previous = nullptr;
  for (const Claim& claim : table.claims) {
    if (previous == nullptr || *previous != claim.claim) {
      out += fmt::format("  {}\n", claim.claim);
      previous = &claim.claim;
    }
    out +=
        fmt::format("    {} with {}: {}\n", OutcomeName(claim.outcome), claim.place, claim.numbers);
  }
  return out;
}

std::string WarningsText(const StudyTable& table) {
  if (table.method.warnings.empty()) return "";
  std::string out = "\nWarnings:\n";
  for (const std::string& warning : table.method.warnings) out += "  " + warning + '\n';
  return out;
}

}  // namespace

std::string RenderText(const StudyTable& table) {
  std::string out = fmt::format("{}\n\n", table.name);
  if (!table.constants.empty()) out += ConstantsText(table.constants) + "\n\n";
  if (!table.cells.empty()) {
    out += CellsText(table, FilledNumbers(table, kTimes)) + '\n' + Legend(table);
    out += CostsText(table) + FindingsText(table) + ClaimsText(table) + WarningsText(table);
  }
  if (!table.failed.empty()) {
    out += "\nRuns that did not finish well:\n";
    for (const FailedRun& run : table.failed) {
      out += fmt::format("  {}: {} ({})\n", run.label, StatusText(run.status, run.error),
                         run.directory);
      if (!run.last_words.empty()) out += fmt::format("    last words: {}\n", run.last_words);
    }
  }
  if (!table.incidents.empty()) out += "\nWhat went wrong without ending a run:\n";
  for (const RunIncident& incident : table.incidents) {
    out += fmt::format("  {}: {} ({})\n", incident.label, incident.text, incident.directory);
    if (!incident.last_words.empty()) {
      out += fmt::format("    last words: {}\n", incident.last_words);
    }
  }
  if (!table.problems.empty()) {
    out += "\nBundles that are left out:\n";
    for (const BundleProblem& problem : table.problems) {
      out += fmt::format("  {}: {}\n", problem.directory, problem.cause);
    }
  }
  return out;
}

}  // namespace ringside

#include "ringside/experiments/report/render/markdown.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "ringside/experiments/report/cells/condition_text.h"
#include "ringside/experiments/report/cells/study_constants.h"
#include "ringside/experiments/report/cells/study_fidelity.h"
#include "ringside/experiments/report/cells/study_scaling.h"
#include "ringside/experiments/report/render/held_out.h"
#include "ringside/experiments/report/render/markdown_text.h"
#include "ringside/experiments/spec/bundle.h"
#include "ringside/experiments/text/units.h"

namespace ringside {
namespace {

// A column of the table of cells. An absent value is a dash; an interval follows its number.
struct Column {
  const char* title;
  const char* name;  ///< In `StudyCell::intervals`.
  std::optional<double> StudyCell::*member;
  std::string (*text)(double value);
};

template <int digits>
std::string Fixed(double value) {
  return fmt::format("{:.{}f}", value, digits);
}
std::string Percent(double value) { return fmt::format("{:.1f} %", value * 100); }

constexpr std::array kColumns{
    Column{"step, ms", "step_ms", &StudyCell::step_ms, Fixed<2>},
    Column{"exposed, ms", "exposed_comm_ms", &StudyCell::exposed_comm_ms, Fixed<2>},
    Column{"samples/s", "samples_per_s", &StudyCell::samples_per_s, Fixed<0>},
    Column{"speed-up", "speedup", &StudyCell::speedup, Fixed<2>},
    Column{"sent/step", "bytes_per_step", &StudyCell::bytes_per_step, FormatBytes},
    Column{"bound, ms", "bound_ms", &StudyCell::bound_ms, Fixed<2>},
    Column{"step/bound", "bound_ratio", &StudyCell::bound_ratio, Fixed<2>},
    Column{"step/achievable", "achievable_ratio", &StudyCell::achievable_ratio, Fixed<2>},
    Column{"accuracy", "accuracy", &StudyCell::accuracy, Percent},
    Column{"test loss", "test_loss", &StudyCell::test_loss, Fixed<4>},
    Column{"staleness", "staleness_mean", &StudyCell::staleness_mean, Fixed<2>},
};

std::string NumberText(const StudyCell& cell, const Column& column) {
  const std::optional<double>& value = cell.*column.member;
  if (!value) return "–";
  std::string out = column.text(*value);
  if (const auto interval = cell.intervals.find(column.name); interval != cell.intervals.end()) {
    out += fmt::format(" ({} to {})", column.text(interval->second.low),
                       column.text(interval->second.high));
  }
  return out;
}

std::string WinnerText(const Finding& finding) {
  const Tie tie = TieOf(finding.ring_over_ps);
  const std::string text = tie == Tie::kNone ? finding.winner + " faster" : TieText(tie);
  return finding.ring_over_ps.interval ? text : text + ", no interval";
}

std::string ServersText(const StudyCell& cell) {
  if (cell.servers == 0) return "–";
  return fmt::format("{}{}", cell.servers, cell.colocated ? " co-located" : "");
}

std::string TransportText(const StudyTable& table, const StudyCell& cell) {
  if (cell.transport.empty()) return "–";
  return EscapeMarkdown(cell.transport + (MixesTransports(table) ? " *" : ""));
}

std::string RunsText(const StudyCell& cell) {
  std::string text = std::to_string(cell.runs);
  if (cell.failed > 0) text += fmt::format(" + {} failed", cell.failed);
  if (IsAllLimited(cell)) return text + ", all limited by the machine";
  return cell.limited == 0 ? text : text + fmt::format(", {} limited by the machine", cell.limited);
}

std::string CellsTable(const StudyTable& table) {
  std::vector<Column> columns;
  std::ranges::copy_if(kColumns, std::back_inserter(columns), [&](const Column& column) {
    if (column.member == &StudyCell::test_loss && !ShowsTestLoss(table)) return false;
    return std::ranges::any_of(
        table.cells, [&](const StudyCell& cell) { return (cell.*column.member).has_value(); });
  });
  std::vector<std::string> titles;
  for (const std::string& key : table.varied_keys) titles.push_back(EscapeMarkdown(KeyTitle(key)));
  const bool transports = HasTransports(table);
  titles.insert(titles.end(), {"strategy", "workers", "servers"});
  if (transports) titles.emplace_back("transport");
  const bool dilated = HasDilation(table.cells);
  if (dilated) titles.emplace_back("dilation factor");
  titles.emplace_back("runs");
  std::vector<std::string> rules(titles.size(), "---");
  for (const Column& column : columns) titles.emplace_back(column.title);
  const std::vector<std::string> metrics = MetricNames(table);
  for (const std::string& name : metrics) titles.push_back(EscapeMarkdown(name));
  rules.resize(titles.size(), "--:");
  const bool explained = std::ranges::any_of(
      table.cells, [](const StudyCell& cell) { return !cell.bound_explanation.empty(); });
  if (explained) {
    titles.emplace_back("why not at its bound");
    rules.emplace_back("---");
  }
  std::string out = MarkdownRow(titles) + MarkdownRow(rules);
  for (const StudyCell& cell : table.cells) {
    std::vector<std::string> row;
    for (const std::string& key : table.varied_keys) {
      row.push_back(EscapeMarkdown(VariedText(cell, key)));
    }
    row.push_back(EscapeMarkdown(cell.strategy));
    row.push_back(std::to_string(cell.workers));
    row.push_back(ServersText(cell));
    if (transports) row.push_back(TransportText(table, cell));
    if (dilated) {
      const std::string factor = DilationText(cell);
      row.push_back(factor.empty() ? "–" : factor);
    }
    row.push_back(RunsText(cell));
    for (const Column& column : columns) row.push_back(NumberText(cell, column));
    for (const std::string& name : metrics) row.push_back(MetricText(cell, name, "–"));
    if (explained) row.push_back(EscapeMarkdown(cell.bound_explanation));
    out += MarkdownRow(row);
  }
  return out;
}

// A side of a finding. With servers on hosts of their own it names the number of hosts.
std::string SideText(const StudyCell& cell) {
  std::string text = StrategyText(cell);
  if (cell.server_hosts > 0) {
    text +=
        fmt::format(", on {} more host{}", cell.server_hosts, cell.server_hosts == 1 ? "" : "s");
  }
  return EscapeMarkdown(text);
}

std::string FindingsText(const StudyTable& table) {
  if (table.findings.empty()) return {};
  const bool relaxed = std::ranges::any_of(table.findings, &Finding::synchronous_only);
  const bool transports = std::ranges::any_of(table.findings, &Finding::transports_differ);
  std::string out = "## The best server and the best ring, place by place\n\n";
  out += MarkdownRow({"with", "best parameter server", "best ring", "ring / server, samples/s",
                      "95 % interval", "runs", "result"}) +
         MarkdownRow({"---", "---", "---", "--:", "--:", "--:", "---"});
  for (const Finding& finding : table.findings) {
    const StudyCell& server = table.cells[finding.ps_cell];
    const StudyCell& ring = table.cells[finding.ring_cell];
    const Comparison& speed = finding.ring_over_ps;
    std::string place = ScenarioText(server);
    if (finding.synchronous_only) place += ", synchronous strategies";
    out += MarkdownRow(
        {EscapeMarkdown(place), SideText(server),
         SideText(ring) + (finding.transports_differ ? " \\*" : ""),
         speed.ratio ? Fixed<3>(*speed.ratio) : "–",
         speed.interval ? fmt::format("{:.3f} to {:.3f}", speed.interval->low, speed.interval->high)
                        : "–",
         std::to_string(speed.runs), WinnerText(finding)});
  }
  out += '\n';
  if (transports) out += "\\* The two use different transports, so the ratio compares them, too.\n";
  if (relaxed) {
    out +=
        "Where the fastest pair has a relaxed strategy, the fastest synchronous pair stands before "
        "it.\n";
  }
  return out + (transports || relaxed ? "\n" : "");
}

std::string VerdictText(const StudyTable& table) {
  std::string out;
  if (!table.verdict.sentence.empty()) {
    out += fmt::format("**{}**\n\n", EscapeMarkdown(table.verdict.sentence));
  }
  const auto add_list = [&](const std::vector<std::string>& items) {
    for (const std::string& item : items) out += fmt::format("- {}\n", EscapeMarkdown(item));
    if (!items.empty()) out += '\n';
  };
  add_list(table.verdict.details);
  add_list(table.verdict.caveats);
  return out + FindingsText(table);
}

std::string ClaimsText(const StudyTable& table) {
  if (table.claims.empty()) return {};
  std::string out = "## Common claims, tested by these runs\n\n";
  const std::string* previous = nullptr;
  for (const Claim& claim : table.claims) {
    if (previous == nullptr || *previous != claim.claim) {
      out +=
          fmt::format("{}**{}**\n\n", previous == nullptr ? "" : "\n", EscapeMarkdown(claim.claim));
      out += MarkdownRow({"with", "outcome", "numbers"}) + MarkdownRow({"---", "---", "---"});
      previous = &claim.claim;
    }
    out += MarkdownRow(
        {EscapeMarkdown(claim.place), OutcomeName(claim.outcome), EscapeMarkdown(claim.numbers)});
  }
  return out + '\n';
}

std::string NumbersText(const StudyTable& table) {
  if (table.cells.empty()) return {};
  std::string out = "## The numbers\n\n" + CellsTable(table) + '\n';
  out += fmt::format(
      "Medians over runs; in parentheses {:.0f} % bootstrap intervals over runs, given for at "
      "least {} runs.\nExposed: the time that a step waits for communication.\n",
      table.method.confidence * 100, table.method.minimum_runs);
  if (std::ranges::any_of(table.cells,
                          [](const StudyCell& cell) { return cell.bound_ms.has_value(); })) {
    out += "Bound: the least that theory allows on the declared link.\n";
  }
  if (std::ranges::any_of(table.cells,
                          [](const StudyCell& cell) { return cell.achievable_ms.has_value(); })) {
    out +=
        "Achievable: the time of a step over the same links when buckets are sent in the "
        "strategy's order.\n";
  }
  if (std::ranges::any_of(table.cells,
                          [](const StudyCell& cell) { return !cell.bound_flag.empty(); })) {
    out +=
        "The last column gives the reason for a step outside 1.00 to 1.15 of its bound, or above "
        "1.05 of its achievable step, as far as the runs recorded it.\n";
  }
  const auto emulated = [](const StudyCell& cell) { return cell.emulated_compute; };
  if (std::ranges::any_of(table.cells, emulated)) {
    out += "Compute was emulated: workers waited for its time. Every byte was really sent.\n";
  }
  if (MixesTransports(table)) {
    out += "\\* Rows over different transports compare transports as well as strategies.\n";
  }
  if (std::ranges::any_of(table.cells, [](const StudyCell& cell) { return cell.limited > 0; })) {
    out +=
        "Limited by the machine: the machine was too slow for the run, which takes no part in "
        "verdicts. A row's numbers come from its other runs, or from all runs if every one is "
        "limited.\n";
  }
  return out + '\n';
}

/// The ratio, its interval, the share of pairs and the result, as cells of a row.
std::vector<std::string> ComparisonCells(const Comparison& comparison) {
  const auto text = [](const std::optional<double>& number) {
    return number ? fmt::format("{:.3f}", *number) : "–";
  };
  return {text(comparison.ratio),
          comparison.interval
              ? fmt::format("{:.3f} to {:.3f}", comparison.interval->low, comparison.interval->high)
              : "–",
          text(comparison.p_greater), ResultText(comparison)};
}

std::string ComparisonRow(std::vector<std::string> cells, const Comparison& comparison) {
  for (std::string& cell : cells) cell = EscapeMarkdown(cell);
  std::ranges::move(ComparisonCells(comparison), std::back_inserter(cells));
  return MarkdownRow(cells);
}

std::string PairsText(const StudyTable& table) {
  if (table.pairs.empty()) return {};
  std::string out = "## Each strategy against its baseline\n\n";
  out += MarkdownRow({"with", "compared", "baseline", "ratio of samples/s", "95 % interval",
                      "P(faster)", "result"});
  out += MarkdownRow({"---", "---", "---", "--:", "--:", "--:", "---"});
  for (const BaselineComparison& pair : table.pairs) {
    out += ComparisonRow(
        {pair.place, pair.compared + (pair.transports_differ ? " *" : ""), pair.baseline},
        pair.over_baseline);
  }
  out +=
      "\nAbove 1 the strategy is faster than the baseline. P(faster): the share of run pairs in "
      "which it is.\n";
  if (std::ranges::any_of(table.pairs, &BaselineComparison::transports_differ)) {
    out += "\\* It used another transport than the baseline, so transports are compared too.\n";
  }
  return out + '\n';
}

std::string CarriersText(const StudyTable& table) {
  if (table.carriers.empty()) return {};
  std::string out = "## The same strategy, carried differently\n\n";
  out += MarkdownRow(
      {"change", "with", "strategy", "ratio of samples/s", "95 % interval", "P(faster)", "result"});
  out += MarkdownRow({"---", "---", "---", "--:", "--:", "--:", "---"});
  for (const CarrierComparison& each : table.carriers) {
    out += ComparisonRow({each.change, each.place, each.strategy}, each.over_default);
  }
  return out + "\nAbove 1 the changed configuration is faster.\n\n";
}

std::string WarningsText(const StudyTable& table) {
  if (table.method.warnings.empty()) return {};
  std::string out = "## Warnings\n\n";
  for (const std::string& warning : table.method.warnings) {
    out += fmt::format("- {}\n", EscapeMarkdown(warning));
  }
  return out + '\n';
}

std::string MethodText(const StudyTable& table) {
  if (table.cells.empty()) return {};
  std::string out =
      fmt::format("## Method\n\n- Warm-up: {}.\n- Outliers: {}.\n",
                  EscapeMarkdown(table.method.warmup), EscapeMarkdown(table.method.outliers));
  if (!table.method.fidelity.empty()) {
    out += fmt::format("- Fidelity: {}.\n", EscapeMarkdown(table.method.fidelity));
  }
  return out + '\n';
}

std::string ListText(const char* title, const std::vector<std::string>& items) {
  if (items.empty()) return "";
  std::string out = fmt::format("{}:\n\n", title);
  for (const std::string& item : items) out += fmt::format("- {}\n", EscapeMarkdown(item));
  return out + '\n';
}

std::string DilationSection(const StudyTable& table) {
  if (!HasDilation(table.cells)) return {};
  std::string out = fmt::format("## Dilated time\n\n{}.\n\n",
                                EscapeMarkdown("In this study " + table.method.dilation));
  out += MarkdownRow({"factor", "asked", "cores", "hosts", "equivalent cores a host", "runs",
                      "limited", "training, s of dilated time",
                      "whole runs, s of the machine's time"});
  out += MarkdownRow({"--:", "---", "--:", "--:", "--:", "--:", "--:", "--:", "--:"});
  const auto text = [](const auto& number) {
    return number ? fmt::format("{:g}", static_cast<double>(*number)) : "–";
  };
  for (const DilationRow& row : table.dilation.rows) {
    out += MarkdownRow({fmt::format("{:g}", row.factor), EscapeMarkdown(row.asked), text(row.cores),
                        text(row.hosts), text(row.equivalent_cores_per_host),
                        std::to_string(row.runs), std::to_string(row.limited),
                        Fixed<1>(row.train_seconds), Fixed<1>(row.wall_seconds)});
  }
  return out + '\n' + ListText("Scaled by the factor", table.dilation.scaled) +
         ListText("Not scaled", table.dilation.not_scaled);
}

std::string IncidentsText(const StudyTable& table) {
  if (table.incidents.empty()) return {};
  std::string out = "## What went wrong without ending a run\n\n";
  for (const RunIncident& incident : table.incidents) {
    out += fmt::format("- {}: {} ({})\n", EscapeMarkdown(incident.label),
                       EscapeMarkdown(incident.text), EscapeMarkdown(incident.directory));
    if (!incident.last_words.empty()) {
      out += fmt::format("  - last words: {}\n", EscapeMarkdown(incident.last_words));
    }
  }
  return out + '\n';
}

std::string ProblemsText(const StudyTable& table) {
  if (table.failed.empty() && table.problems.empty()) return {};
  std::string out = "## Left out\n\n";
  for (const FailedRun& run : table.failed) {
    out += fmt::format("- {}: {} ({})\n", EscapeMarkdown(run.label),
                       EscapeMarkdown(StatusText(run.status, run.error)),
                       EscapeMarkdown(run.directory));
    if (!run.last_words.empty()) {
      out += fmt::format("  - last words: {}\n", EscapeMarkdown(run.last_words));
    }
  }
  for (const BundleProblem& problem : table.problems) {
    out +=
        fmt::format("- {}: {}\n", EscapeMarkdown(problem.directory), EscapeMarkdown(problem.cause));
  }
  return out + '\n';
}

std::string EnvironmentText(const StudyTable& table) {
  std::string out;
  for (const StudyEnvironment& environment : table.environments) {
    out += fmt::format("## Environment of {} run{}\n\n", environment.runs,
                       environment.runs == 1 ? "" : "s");
    for (const auto& [key, value] : environment.values) {
      out += fmt::format("- {}: {}\n", EscapeMarkdown(key), EscapeMarkdown(value));
    }
    out += '\n';
  }
  return out;
}

}  // namespace

std::string RenderMarkdown(const StudyTable& table, const std::vector<std::string>& pictures) {
  std::string out = fmt::format("# {}\n\n", EscapeMarkdown(table.name));
  if (!table.constants.empty()) {
    out += EscapeMarkdown(ConstantsText(table.constants)) + "\n\n";
  }
  out += VerdictText(table) + ClaimsText(table);
  for (const std::string& picture : pictures) {
    out += fmt::format("![{}]({})\n\n", EscapeMarkdown(PictureText(picture)), picture);
  }
  out += NumbersText(table) + PairsText(table) + CarriersText(table) + WarningsText(table) +
         MethodText(table) + DilationSection(table) + IncidentsText(table) + ProblemsText(table);
  out += EnvironmentText(table);
  out.pop_back();
  return out;
}

}  // namespace ringside

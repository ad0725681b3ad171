#include "experiments/report/study_render.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "experiments/bundle.h"
#include "experiments/report/text_table.h"
#include "experiments/units.h"

namespace ringside {
namespace {

using Member = std::optional<double> StudyCell::*;

// The numbers of a cell: their name in JSON, their column in text, how people read them.
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

constexpr std::array kNumbers{
    Number{"step_ms", "step\nms", &StudyCell::step_ms, Fixed<2>},
    Number{"exposed_comm_ms", "exposed\nms", &StudyCell::exposed_comm_ms, Fixed<2>},
    Number{"samples_per_s", "samples\n/s", &StudyCell::samples_per_s, Fixed<0>},
    Number{"speedup", "speed-\nup", &StudyCell::speedup, Fixed<2>},
    Number{"efficiency", "effi-\nciency", &StudyCell::efficiency, Percent},
    Number{"bytes_per_step", "sent\n/step", &StudyCell::bytes_per_step, FormatBytes},
    Number{"bound_bytes_per_step", "bound\n/step", &StudyCell::bound_bytes_per_step, FormatBytes},
    Number{"bound_ms", "bound\nms", &StudyCell::bound_ms, Fixed<2>},
    Number{"bound_ratio", "step/\nbound", &StudyCell::bound_ratio, Fixed<2>},
    Number{"accuracy", "accu-\nracy", &StudyCell::accuracy, Percent},
    Number{"train_loss", "train\nloss", &StudyCell::loss, Fixed<4>},
    Number{"staleness_mean", "stale-\nness", &StudyCell::staleness_mean, Fixed<2>},
};

std::string ServersText(const StudyCell& cell) {
  if (cell.servers == 0) return "-";
  return fmt::format("{}{}", cell.servers, cell.colocated ? " col." : "");
}

bool HasTransports(const StudyTable& table) {
  return std::ranges::any_of(table.cells,
                             [](const StudyCell& cell) { return !cell.transport.empty(); });
}

std::string TransportText(const StudyTable& table, const StudyCell& cell) {
  if (cell.transport.empty()) return "-";
  return cell.transport + (MixesTransports(table) ? " *" : "");
}

// A column that no cell fills only takes room.
std::vector<Number> FilledNumbers(const StudyTable& table) {
  std::vector<Number> filled;
  for (const Number& number : kNumbers) {
    const auto has = [&](const StudyCell& cell) { return (cell.*number.member).has_value(); };
    if (std::ranges::any_of(table.cells, has)) filled.push_back(number);
  }
  return filled;
}

std::string CellsText(const StudyTable& table) {
  using Align = TextTable::Align;
  std::vector<TextTable::Column> columns;
  for (const std::string& key : table.varied_keys) columns.push_back({key, Align::kLeft});
  columns.push_back({"strategy", Align::kLeft});
  columns.push_back({"workers"});
  columns.push_back({"servers"});
  const bool transports = HasTransports(table);
  if (transports) columns.push_back({"transport", Align::kLeft});
  columns.push_back({"runs"});
  const std::vector<Number> numbers = FilledNumbers(table);
  for (const Number& number : numbers) columns.push_back({number.title});
  TextTable text(std::move(columns));
  for (const StudyCell& cell : table.cells) {
    std::vector<std::string> row;
    for (const std::string& key : table.varied_keys) row.push_back(cell.varied.at(key));
    row.push_back(cell.strategy);
    row.push_back(std::to_string(cell.workers));
    row.push_back(ServersText(cell));
    if (transports) row.push_back(TransportText(table, cell));
    row.push_back(cell.failed == 0 ? std::to_string(cell.runs)
                                   : fmt::format("{}+{} failed", cell.runs, cell.failed));
    for (const Number& number : numbers) {
      const std::optional<double>& value = cell.*number.member;
      row.push_back(value ? number.text(*value) : "-");
    }
    text.AddRow(std::move(row));
  }
  return text.Render();
}

std::string Legend(const StudyTable& table) {
  std::string out =
      "Medians over runs. exposed: time a step waits for communication. sent: bytes that the "
      "sockets "
      "of a worker send in a\nstep; bound: the least that theory allows the strategy.";
  std::set<std::string> baselines;
  for (const StudyCell& cell : table.cells) {
    if (!cell.baseline.empty()) baselines.insert(cell.baseline);
  }
  if (baselines.empty()) {
    out += " No speed-up: no run has a single worker.";
  } else {
    out += fmt::format(" Speed-up: samples/s over the best single worker ({}).",
                       fmt::join(baselines, "; "));
  }
  if (MixesTransports(table)) {
    out += "\n* Rows over different transports compare transports too, not strategies alone.";
  }
  return out + '\n';
}

}  // namespace

std::string RenderText(const StudyTable& table) {
  std::string out = fmt::format("{}\n\n", table.name);
  if (!table.cells.empty()) out += CellsText(table) + '\n' + Legend(table);
  if (!table.failed.empty()) {
    out += "\nRuns that did not finish well:\n";
    for (const FailedRun& run : table.failed) {
      out += fmt::format("  {}: {} ({})\n", run.label, StatusText(run.status, run.error),
                         run.directory);
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

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

using nlohmann::json;
using Member = std::optional<double> StudyCell::*;

constexpr char kSchema[] = "ringside.report/1";

// The numbers of a cell: their name in CSV and JSON, their column in text, how people read them.
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

std::string QuoteCsv(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + '"';
}

json JsonOf(const std::optional<double>& value) { return value ? json(*value) : json(nullptr); }

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

std::string RenderCsv(const StudyTable& table) {
  std::string out = "schema";
  for (const std::string& key : table.varied_keys) out += ',' + QuoteCsv(key);
  out += ",strategy,workers,servers,colocated,transport,runs,failed,baseline";
  for (const Number& number : kNumbers) out += fmt::format(",{}", number.name);
  out += "\r\n";
  for (const StudyCell& cell : table.cells) {
    out += kSchema;
    for (const std::string& key : table.varied_keys) out += ',' + QuoteCsv(cell.varied.at(key));
    out += fmt::format(",{},{},{},{},{},{},{},{}", QuoteCsv(cell.strategy), cell.workers,
                       cell.servers, cell.colocated, cell.transport, cell.runs, cell.failed,
                       QuoteCsv(cell.baseline));
    for (const Number& number : kNumbers) {
      const std::optional<double>& value = cell.*number.member;
      out += value ? fmt::format(",{}", *value) : ",";
    }
    out += "\r\n";
  }
  return out;
}

json RenderJson(const StudyTable& table) {
  json cells = json::array();
  for (const StudyCell& cell : table.cells) {
    json row{
        {"strategy", cell.strategy},   {"workers", cell.workers},     {"servers", cell.servers},
        {"colocated", cell.colocated}, {"transport", cell.transport}, {"varied", cell.varied},
        {"runs", cell.runs},           {"failed", cell.failed},       {"baseline", cell.baseline}};
    for (const Number& number : kNumbers) row[number.name] = JsonOf(cell.*number.member);
    cells.push_back(std::move(row));
  }
  json failed = json::array();
  for (const FailedRun& run : table.failed) {
    failed.push_back({{"directory", run.directory},
                      {"label", run.label},
                      {"status", run.status},
                      {"error", run.error}});
  }
  json problems = json::array();
  for (const BundleProblem& problem : table.problems) {
    problems.push_back({{"directory", problem.directory}, {"cause", problem.cause}});
  }
  return {{"schema", kSchema}, {"name", table.name}, {"varied", table.varied_keys},
          {"cells", cells},    {"failed", failed},   {"problems", problems}};
}

}  // namespace ringside

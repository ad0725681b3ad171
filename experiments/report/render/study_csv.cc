#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ringside/experiments/report/cells/study_fidelity.h"
#include "ringside/experiments/report/cells/study_numbers.h"
#include "ringside/experiments/report/render/csv.h"
#include "ringside/experiments/report/render/study_render.h"

namespace ringside {
namespace {

// A number of a cell that is not a median.
struct CellNumber {
  const char* name;
  std::optional<double> StudyCell::*member;
};

constexpr std::array kDerived{
    CellNumber{"speedup", &StudyCell::speedup},
    CellNumber{"efficiency", &StudyCell::efficiency},
    CellNumber{"serial_fraction", &StudyCell::serial_fraction},
    CellNumber{"seconds_to_target", &StudyCell::seconds_to_target},
    CellNumber{"epochs_to_target", &StudyCell::epochs_to_target},
    CellNumber{"samples_to_target", &StudyCell::samples_to_target},
};

// A number that only runs have, not cells.
struct RunNumber {
  const char* name;
  std::optional<double> StudyRun::*member;
};

constexpr std::array kRunAlone{
    RunNumber{"step_ms_p10", &StudyRun::step_ms_p10},
    RunNumber{"step_ms_p90", &StudyRun::step_ms_p90},
    RunNumber{"submit_ms", &StudyRun::submit_ms},
    RunNumber{"data_ms", &StudyRun::data_ms},
    RunNumber{"codec_ms", &StudyRun::codec_ms},
    RunNumber{"eval_loss", &StudyRun::eval_loss},
    RunNumber{"wall_seconds", &StudyRun::wall_seconds},
    RunNumber{"train_seconds", &StudyRun::train_seconds},
    RunNumber{"startup_seconds", &StudyRun::startup_seconds},
    RunNumber{"seconds_to_target", &StudyRun::seconds_to_target},
    RunNumber{"epochs_to_target", &StudyRun::epochs_to_target},
    RunNumber{"samples_to_target", &StudyRun::samples_to_target},
};

std::string IdentityHeader(const StudyTable& table) {
  std::string out = "schema";
  for (const std::string& key : table.varied_keys) out += ',' + CsvText(key);
  return out + ",strategy,workers,servers,colocated,transport";
}

std::string Identity(const StudyTable& table, const StudyCell& cell) {
  std::string out = kReportSchema;
  for (const std::string& key : table.varied_keys) out += ',' + CsvText(cell.varied.at(key));
  return out + fmt::format(",{},{},{},{},{}", CsvText(cell.strategy), cell.workers, cell.servers,
                           cell.colocated, CsvText(cell.transport));
}

std::string IntervalText(const StudyCell& cell, const char* name) {
  const auto found = cell.intervals.find(name);
  if (found == cell.intervals.end()) return ",,";
  return fmt::format(",{},{}", found->second.low, found->second.high);
}

/// Calls `each(name, value)` for every number of a cell, in the order of the columns.
template <typename Each>
void ForCellNumbers(const StudyCell& cell, Each&& each) {
  for (const MedianNumber& number : kMedianNumbers) each(number.name, cell.*number.cell);
  for (const CellNumber& number : kDerived) each(number.name, cell.*number.member);
}

std::string FidelityText(const StudyRun& run) {
  if (!run.fidelity) return ",";
  return fmt::format("{},{}", FidelityName(run.fidelity->verdict),
                     CsvText(fmt::format("{}", fmt::join(run.fidelity->limited_by, "; "))));
}

std::string RunLine(const StudyRun& run) {
  std::string out =
      fmt::format(",{},{},{},{},{},{},{},{},{},{},{}", CsvText(run.run_id), run.repetition,
                  run.seed, CsvText(run.status), CsvText(run.error), run.outlier,
                  run.link_ok ? fmt::format("{}", *run.link_ok) : "", FidelityText(run),
                  run.warmup_steps, run.timed_steps ? fmt::format("{}", *run.timed_steps) : "",
                  run.warmup_detected ? fmt::format("{}", *run.warmup_detected) : "");
  for (const MedianNumber& number : kMedianNumbers) out += ',' + CsvNumber(run.*number.run);
  for (const RunNumber& number : kRunAlone) out += ',' + CsvNumber(run.*number.member);
  return out + ',' + CsvText(run.directory) + ',' + CsvText(run.command);
}

}  // namespace

std::string RenderCsv(const StudyTable& table) {
  std::string out = IdentityHeader(table) +
                    ",runs,failed,limited,takes_part,baseline,scaling,bound_flag,bound_explained,"
                    "bound_explanation";
  ForCellNumbers(StudyCell(), [&](const char* name, const auto&) {
    out += fmt::format(",{0},{0}_low,{0}_high", name);
  });
  out += "\r\n";
  for (const StudyCell& cell : table.cells) {
    out += Identity(table, cell);
    out += fmt::format(",{},{},{},{},{},{},{},{},{}", cell.runs, cell.failed, cell.limited,
                       !IsAllLimited(cell), CsvText(cell.baseline), cell.scaling, cell.bound_flag,
                       cell.bound_explained, CsvText(cell.bound_explanation));
    ForCellNumbers(cell, [&](const char* name, const std::optional<double>& value) {
      out += ',' + CsvNumber(value) + IntervalText(cell, name);
    });
    out += "\r\n";
  }
  return out;
}

std::string RenderRunsCsv(const StudyTable& table) {
  std::string out =
      IdentityHeader(table) +
      ",run_id,repetition,seed,status,error,outlier,link_ok,fidelity,limited_by,warmup_steps,"
      "timed_steps,warmup_detected";
  for (const MedianNumber& number : kMedianNumbers) out += fmt::format(",{}", number.name);
  for (const RunNumber& number : kRunAlone) out += fmt::format(",{}", number.name);
  out += ",directory,command\r\n";
  for (const StudyCell& cell : table.cells) {
    const std::string identity = Identity(table, cell);
    for (const StudyRun& run : cell.results) out += identity + RunLine(run) + "\r\n";
  }
  return out;
}

}  // namespace ringside

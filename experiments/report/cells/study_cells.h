#ifndef RINGSIDE_EXPERIMENTS_REPORT_CELLS_STUDY_CELLS_H_
#define RINGSIDE_EXPERIMENTS_REPORT_CELLS_STUDY_CELLS_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ringside/experiments/report/cells/study_cell.h"
#include "ringside/experiments/report/runs/bundle_reader.h"
#include "ringside/experiments/spec/catalog.h"
#include "ringside/experiments/statistics/bootstrap.h"
#include "ringside/experiments/statistics/comparison.h"

namespace ringside {

/// The resolved spec as JSON, equal for all runs of a cell: without the keys that differ between
/// repetitions or change no measurement. Pure.
std::string ConfigurationOf(const RunSpec& spec);

/// The keys in which the runs differ, except those that have a column in every study. Pure.
std::vector<const SpecKey*> VariedKeys(const std::vector<RunResult>& runs);

/// Makes a cell from one or more runs of one configuration; `results[i]` belongs to `runs[i]`. The
/// speed-up is absent, because it needs the other cells.
StudyCell MakeCell(const std::vector<const RunResult*>& runs, std::vector<StudyRun> results,
                   const std::vector<const SpecKey*>& varied, MedianBootstrap& bootstrap);

/// Adds baseline, speed-up, efficiency and serial fraction, with their intervals.
void AddSpeedups(std::vector<StudyCell>& cells);

/// The names and values of keys.
using Workload = std::map<std::string, std::string>;

/// The varied keys that are not options of a strategy. Two different strategies can be compared
/// only when these are equal. With `keep_codec` the codec is included.
Workload SharedKeys(const StudyCell& cell, bool keep_codec);

/// Compares one number of two cells' counted runs (`CountedRuns`). It uses pairs of the same
/// repetition and seed when every run has such a partner, otherwise each run with each.
Comparison CompareCells(const StudyCell& a, const StudyCell& b,
                        std::optional<double> StudyRun::*number);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_CELLS_STUDY_CELLS_H_

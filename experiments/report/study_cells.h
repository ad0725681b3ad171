#ifndef RINGSIDE_EXPERIMENTS_REPORT_STUDY_CELLS_H_
#define RINGSIDE_EXPERIMENTS_REPORT_STUDY_CELLS_H_

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "experiments/report/bundle_reader.h"
#include "experiments/report/study_cell.h"
#include "experiments/spec_keys.h"
#include "experiments/statistics/bootstrap.h"
#include "experiments/statistics/comparison.h"

namespace ringside {

/// The resolved spec without what tells repetitions apart or changes nothing that is measured, as
/// JSON: equal for the runs of a cell. Pure.
std::string ConfigurationOf(const RunSpec& spec);

/// The keys in which the runs differ, besides those that every study has a column for. Pure.
std::vector<const SpecKey*> VariedKeys(const std::vector<RunResult>& runs);

/// A cell of runs that share a configuration, at least one; `results[i]` belongs to `runs[i]`. No
/// speed-up yet, which needs the other cells.
StudyCell MakeCell(const std::vector<const RunResult*>& runs, std::vector<StudyRun> results,
                   const std::vector<const SpecKey*>& varied, MedianBootstrap& bootstrap);

/// Adds baseline, speed-up, efficiency and serial fraction, with their intervals.
void AddSpeedups(std::vector<StudyCell>& cells);

/// Names and values of keys.
using Workload = std::map<std::string, std::string>;

/// The varied keys without those that are options of a strategy: what two different strategies must
/// share to be compared. With `keep_codec` the codec counts too.
Workload SharedKeys(const StudyCell& cell, bool keep_codec);

/// One number of two cells' runs that are done: by pairs where every run of both has a partner of
/// the same repetition and seed, otherwise each with each.
Comparison CompareCells(const StudyCell& a, const StudyCell& b,
                        std::optional<double> StudyRun::*number);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_STUDY_CELLS_H_

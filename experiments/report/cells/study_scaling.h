#ifndef RINGSIDE_EXPERIMENTS_REPORT_CELLS_STUDY_SCALING_H_
#define RINGSIDE_EXPERIMENTS_REPORT_CELLS_STUDY_SCALING_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "ringside/experiments/report/cells/study_cell.h"

namespace ringside {

/// How a strategy scales: its cells by number of workers, with all else equal.
struct StudyScaling {
  std::string label;               ///< "ps-sync, 2 servers".
  std::vector<std::size_t> cells;  ///< Indices, by workers; at least two.
  /// step_ms = intercept + slope x workers, by least squares over the runs.
  std::optional<double> step_ms_slope;
  std::optional<double> step_ms_intercept;
  std::optional<double> step_ms_r2;
  /// Amdahl's serial fraction that fits the speed-ups best. Only for strong scaling.
  std::optional<double> amdahl_serial_fraction;
};

/// The strategy as "ps-sync with 2 servers over shm", without workers and varied keys. Pure.
std::string StrategyText(const StudyCell& cell);

/// The value of a varied key, for a column below `KeyTitle`. Pure.
std::string VariedText(const StudyCell& cell, const std::string& key);

/// The keys of `SharedKeys` and the codec, as they follow a noun: " at 1 Gbit/s, codec fp16". Pure.
std::string WorkloadText(const StudyCell& cell);

/// Workers and workload, as "4 workers at 1 Gbit/s". Pure.
std::string ScenarioText(const StudyCell& cell);

/// Applies `AreComparableTransports` to two cells. Pure.
bool AreComparable(const StudyCell& a, const StudyCell& b);

/// "; transports differ: grpc against shm" for two cells; empty when they do not differ. Pure.
std::string TransportsText(const StudyCell& first, const StudyCell& second);

/// The series of cells that differ only in the number of workers, with their fits. Cells with as
/// many dedicated servers as workers form their own series. A fit leaves out runs that the machine
/// limited. Pure.
std::vector<StudyScaling> ScalingOf(const std::vector<StudyCell>& cells);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_CELLS_STUDY_SCALING_H_

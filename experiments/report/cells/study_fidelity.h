#ifndef RINGSIDE_EXPERIMENTS_REPORT_CELLS_STUDY_FIDELITY_H_
#define RINGSIDE_EXPERIMENTS_REPORT_CELLS_STUDY_FIDELITY_H_

#include <optional>
#include <string>
#include <vector>

#include "ringside/experiments/report/cells/study_cell.h"

/// Which runs count, and how slowly their clocks went. A run that the machine limited, or may have
/// limited, stays in every table and takes part in no verdict. All functions are pure.
namespace ringside {

/// The run finished.
bool IsDone(const StudyRun& run);

/// The machine limited the run, or may have: it was not judged, or a link was not as asked. Runs
/// without an emulated network are never limited.
bool IsLimited(const StudyRun& run);

/// The run finished, and the machine limited it.
bool IsDoneButLimited(const StudyRun& run);

/// The finished runs of the cell.
std::vector<const StudyRun*> DoneRuns(const StudyCell& cell);

/// The finished runs that the cell's numbers come from: those that the machine did not limit. If it
/// limited all of them, all.
std::vector<const StudyRun*> CountedRuns(const StudyCell& cell);

/// The machine limited every finished run. The cell then takes part in no verdict.
bool IsAllLimited(const StudyCell& cell);
/// The machine limited every finished run of the study, and there is one.
bool LimitedEveryRun(const std::vector<StudyCell>& cells);

/// What limited the runs. For one run "the processor: 4 % idle"; for more "the processor in 4 of 5
/// runs (one of them: 4 % idle)". Empty when none was limited.
std::string LimitsText(const std::vector<const StudyRun*>& runs);

/// The factors of the cell's runs as "10" or "8 to 10"; empty without an emulated network.
std::string DilationText(const StudyCell& cell);

/// The clock of some run is dilated: its factor is not 1. Then tables have a column for factors.
bool HasDilation(const std::vector<StudyCell>& cells);

/// The runs on emulated hosts that had the same factor, cores and hosts.
struct DilationRow {
  double factor = 1;
  std::string asked;  ///< A number's text, or "auto".
  std::optional<int> cores;
  std::optional<int> hosts;
  std::optional<double> equivalent_cores_per_host;
  int runs = 0;
  int limited = 0;           ///< Of `runs`: those that the machine limited.
  double train_seconds = 0;  ///< Sum over runs, in dilated time.
  double wall_seconds = 0;   ///< Sum over runs with start and end, in the machine's time.
};

/// How slowly the clocks of a study's runs went.
struct StudyDilation {
  std::vector<DilationRow> rows;        ///< By factor and hosts; empty without emulated networks.
  std::vector<std::string> scaled;      ///< What the runs scaled; each once.
  std::vector<std::string> not_scaled;  ///< What could not be scaled.
};

/// Collects the records of all runs.
StudyDilation DilationOf(const std::vector<StudyCell>& cells);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_CELLS_STUDY_FIDELITY_H_

#ifndef RINGSIDE_EXPERIMENTS_JOB_SUMMARY_H_
#define RINGSIDE_EXPERIMENTS_JOB_SUMMARY_H_

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "common/measure/recorder.h"
#include "experiments/job/critical_path.h"
#include "experiments/job/job_board.h"
#include "experiments/run_spec.h"

namespace ringside {

/// What the host of a job collected of one worker.
struct WorkerRecord {
  std::string host;
  std::vector<StepRecord> steps;
  nlohmann::json report;  ///< Null when it handed none in.
};

/// All that a summary is made of.
struct RunRecord {
  RunSpec spec;
  std::string status;  ///< `JobStatusName`.
  std::string error;
  std::string started;  ///< UTC, "2026-03-01T12:00:00Z".
  std::string ended;
  double wall_seconds = 0;
  std::optional<double> startup_seconds;  ///< From the start to the first heartbeat with a step.
  std::string address;
  nlohmann::json network;                      ///< Of an emulated one: what network.json holds.
  std::string launcher;                        ///< "ringside", or who started the ranks.
  std::vector<WorkerRecord> workers;           ///< By rank.
  std::vector<nlohmann::json> server_reports;  ///< Of dedicated servers; null where none came.
  std::optional<HashedEvaluation> evaluation;  ///< The last one.
  std::vector<CriticalStep> critical_path;     ///< `CriticalPathOf` this run.
};

/// The object of summary.json; docs/run-bundle.md says what each key means. What a run did not come
/// to is null. Pure.
nlohmann::json MakeSummary(const RunRecord& run);

/// Of a job that timed instead of training: what each worker handed in, by rank.
nlohmann::json BenchSummary(const RunRecord& run);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_SUMMARY_H_

#ifndef RINGSIDE_EXPERIMENTS_JOB_SUMMARY_SUMMARY_H_
#define RINGSIDE_EXPERIMENTS_JOB_SUMMARY_SUMMARY_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ringside/common/measure/recorder.h"
#include "ringside/experiments/job/coordinator/job_state.h"
#include "ringside/experiments/job/timeline/critical_path.h"
#include "ringside/experiments/spec/run_spec.h"

namespace ringside {

/// What the host of a job collected from one worker.
struct WorkerRecord {
  std::string host;
  std::vector<StepRecord> steps;
  nlohmann::json report;  ///< Null when the worker sent none.
};

/// A worker that died, and that the job has gone on without.
struct LostWorker {
  int index = 0;
  std::int64_t step = 0;        ///< The first that it had not begun when it last told.
  std::string reason{};         ///< "worker 1 (pid 4711) was killed by signal 9"
  nlohmann::json last_words{};  ///< What all were doing by then.
};

/// The input of a summary.
struct RunRecord {
  RunSpec spec;
  std::string status;  ///< `JobStatusName`.
  std::string error;
  std::string started;  ///< UTC, "2026-03-01T12:00:00Z".
  std::string ended;
  double wall_seconds = 0;
  std::optional<double> startup_seconds;  ///< From the start to the first heartbeat with a step.
  std::string address;
  bool tls = false;                            ///< Certificates protected what speaks gRPC.
  nlohmann::json network;                      ///< The content of network.json, if emulated.
  std::vector<double> measured_links;          ///< Goodput into each host, bytes/s; empty: none.
  double dilation = 1;                         ///< The factor of the run's clock.
  int cores = 1;                               ///< That the run could use.
  nlohmann::json fidelity;                     ///< `FidelityJson`, if emulated.
  std::string launcher;                        ///< "ringside", or the ranks' launcher.
  std::vector<WorkerRecord> workers;           ///< By rank.
  std::vector<LostWorker> lost_workers;        ///< Never worker 0.
  std::vector<nlohmann::json> server_reports;  ///< Of dedicated servers; null when none sent one.
  std::vector<std::string> warnings{};         ///< Of slow and silent members.
  std::optional<HashedEvaluation> evaluation;  ///< The last one.
  std::vector<CriticalStep> critical_path;     ///< `CriticalPathOf` this run.
};

/// The object in summary.json; docs/run-bundle.md explains each key. A figure is null if the run
/// did not reach it. Pure.
nlohmann::json MakeSummary(const RunRecord& run);

/// Writes a bundle's summary.json, after all other files are on the disk: when it exists, they are
/// complete, even after a power failure. Throws `DataError`.
void WriteSummary(const std::string& bundle, const nlohmann::json& summary);

/// The median time of a counted step; absent without one. Pure.
std::optional<double> MedianStepMs(const RunRecord& run);

/// The same for a bench, from a worker's report: the median time of an operation, of the size with
/// the shortest one. Absent without a report.
std::optional<double> BenchStepMs(const nlohmann::json& report);

/// The summary of a job that timed instead of training: each worker's report, by rank.
nlohmann::json BenchSummary(const RunRecord& run);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_SUMMARY_SUMMARY_H_

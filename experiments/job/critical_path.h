#ifndef RINGSIDE_EXPERIMENTS_JOB_CRITICAL_PATH_H_
#define RINGSIDE_EXPERIMENTS_JOB_CRITICAL_PATH_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <vector>

#include "common/measure/recorder.h"
#include "experiments/job/process_trace.h"

namespace ringside {

/// Where the time of one step went: means over ranks, in milliseconds. What is there adds up to
/// `step_ms`; what is absent cannot be told apart and is in `exposed_comm_ms`.
struct CriticalStep {
  std::int64_t step = 0;
  double step_ms = 0;  ///< Mean over ranks.
  double compute_ms = 0;
  double exposed_comm_ms = 0;  ///< Waits in Await and work in Submit, less what follows.
  std::optional<double> straggler_wait_ms;
  std::optional<double> server_queue_ms;
  std::optional<double> codec_ms;
  double data_ms = 0;
  double other_ms = 0;         ///< Of the training loop itself.
  bool from_timeline = false;  ///< Else from step records alone.
};

struct CriticalPathInput {
  std::span<const std::vector<StepRecord>> ranks;  ///< The records of each rank in order of steps.
  bool synchronous = true;                         ///< Every rank waits for the gradients of all.
  bool servers = false;                            ///< Gradients go to servers.
  bool codec = false;                              ///< Gradients are encoded.
  std::span<const ProcessTrace> traces{};          ///< Empty without a timeline.
};

/// One entry for each step that every rank has done. Pure.
///
/// From step records, for synchronous strategies: the ranks are let go together, so the rank that
/// waited least in Await came last, and what the others waited longer they waited for it. The
/// server's queue and, with a codec, its share of the waiting are unknown (absent).
///
/// With a timeline, for the steps whose spans are all there: a wait for bucket b ends its share
/// for stragglers when the last rank submits b. Of what remains, the time in which b lay in
/// its server's queue is the server's queue; of what then remains, and of Submit, the time in which
/// this rank encoded or decoded is the codec's. No moment is counted twice.
std::vector<CriticalStep> CriticalPath(const CriticalPathInput& input);

/// Medians over `TimedSteps`, under the keys of summary.json; a component is null where it is
/// absent in one of them. Steps from the timeline alone where there are some.
nlohmann::json CriticalPathJson(std::span<const CriticalStep> steps, std::int64_t warmup_steps);

/// A line of critical_path.jsonl.
nlohmann::ordered_json CriticalStepJson(const CriticalStep& step);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_CRITICAL_PATH_H_

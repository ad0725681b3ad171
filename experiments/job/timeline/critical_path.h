#ifndef RINGSIDE_EXPERIMENTS_JOB_TIMELINE_CRITICAL_PATH_H_
#define RINGSIDE_EXPERIMENTS_JOB_TIMELINE_CRITICAL_PATH_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <vector>

#include "ringside/common/measure/recorder.h"
#include "ringside/experiments/job/timeline/process_trace.h"

namespace ringside {

/// The parts of the time of one step: means over ranks, in milliseconds. The parts add up to
/// `step_ms`. An absent part is unknown; its time is in `exposed_comm_ms`.
struct CriticalStep {
  std::int64_t step = 0;
  double step_ms = 0;  ///< Mean over ranks.
  double compute_ms = 0;
  double exposed_comm_ms = 0;  ///< Time in Await and Submit, minus the next three.
  std::optional<double> straggler_wait_ms;
  std::optional<double> server_queue_ms;
  std::optional<double> codec_ms;
  double data_ms = 0;
  double other_ms = 0;         ///< Of the training loop.
  bool from_timeline = false;  ///< False: from step records only.
};

struct CriticalPathInput {
  std::span<const std::vector<StepRecord>> ranks;  ///< The records of each rank in order of steps.
  bool synchronous = true;                         ///< Every rank waits for the gradients of all.
  bool servers = false;                            ///< Gradients go to servers.
  bool codec = false;                              ///< Gradients are encoded.
  std::span<const ProcessTrace> traces{};          ///< Empty without a timeline.
};

/// Returns one entry for each step that every rank has done. Pure.
///
/// Step records are enough for synchronous strategies. The ranks finish Await together. So the rank
/// that waited least was the last one, and the additional wait of the others was a wait for that
/// rank. The time in a server's queue is unknown (absent), and with a codec so is the codec's.
///
/// A timeline adds the steps that have all their spans. A wait for bucket b counts as a wait for
/// stragglers until the last rank submits b. Of the rest, the time in which b was in its server's
/// queue counts as server queue. Of the remaining time, and of Submit, the time in which this rank
/// encoded or decoded counts as codec. No time counts twice.
std::vector<CriticalStep> CriticalPath(const CriticalPathInput& input);

/// Medians over `TimedSteps`, under the keys of summary.json. Uses only the steps from the timeline
/// if there are any. A component is null when one of the steps lacks it.
nlohmann::json CriticalPathJson(std::span<const CriticalStep> steps, std::int64_t warmup_steps);

/// A line of critical_path.jsonl.
nlohmann::ordered_json CriticalStepJson(const CriticalStep& step);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_TIMELINE_CRITICAL_PATH_H_

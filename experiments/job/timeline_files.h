#ifndef RINGSIDE_EXPERIMENTS_JOB_TIMELINE_FILES_H_
#define RINGSIDE_EXPERIMENTS_JOB_TIMELINE_FILES_H_

#include <functional>
#include <string>
#include <vector>

#include "experiments/job/job_board.h"
#include "experiments/job/process_trace.h"
#include "experiments/job/summary.h"

namespace ringside {

/// What all workers and dedicated servers have handed in, those that died included. Empty without a
/// timeline.
std::vector<ProcessTrace> TakeTraces(JobBoard& board, const RunSpec& spec);

/// Where the time of the run's steps went, with what the traces add.
std::vector<CriticalStep> CriticalPathOf(const RunRecord& run,
                                         const std::vector<ProcessTrace>& traces);

/// Writes trace.json, or where the spec says, and critical_path.jsonl beside the summary; nothing
/// without a timeline. What goes wrong is told to `warn` and costs these files, not the run.
void WriteTimeline(const RunRecord& run, const std::vector<ProcessTrace>& traces,
                   const std::string& bundle_dir,
                   const std::function<void(const std::string&)>& warn);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_TIMELINE_FILES_H_

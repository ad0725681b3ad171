#ifndef RINGSIDE_EXPERIMENTS_JOB_SUMMARY_TIMELINE_FILES_H_
#define RINGSIDE_EXPERIMENTS_JOB_SUMMARY_TIMELINE_FILES_H_

#include <functional>
#include <string>
#include <vector>

#include "ringside/experiments/job/coordinator/job_state.h"
#include "ringside/experiments/job/summary/summary.h"
#include "ringside/experiments/job/timeline/process_trace.h"

namespace ringside {

/// Takes the traces that workers and dedicated servers have sent, including those that died. Empty
/// without a timeline.
std::vector<ProcessTrace> TakeTraces(JobState& job_state, const RunSpec& spec);

/// How the time of the run's steps divides up, from step records and traces.
std::vector<CriticalStep> CriticalPathOf(const RunRecord& run,
                                         const std::vector<ProcessTrace>& traces);

/// Writes trace.json, or the file that the spec names, chunks.jsonl and critical_path.jsonl in the
/// directory of the summary. Writes nothing without a timeline. After an error it calls `warn`, and
/// only that file is missing.
void WriteTimeline(const RunRecord& run, const std::vector<ProcessTrace>& traces,
                   const std::string& bundle_dir,
                   const std::function<void(const std::string&)>& warn);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_SUMMARY_TIMELINE_FILES_H_

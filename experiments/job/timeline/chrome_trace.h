#ifndef RINGSIDE_EXPERIMENTS_JOB_TIMELINE_CHROME_TRACE_H_
#define RINGSIDE_EXPERIMENTS_JOB_TIMELINE_CHROME_TRACE_H_

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "ringside/experiments/job/timeline/process_trace.h"

namespace ringside {

/// Returns for every span its row within its lane: 0, 1, ... In a row, spans must nest or not
/// overlap; the format requires it. Spans are taken in order of begin, the longest first. Each goes
/// to the first row that can take it.
std::vector<int> LayOutRows(std::span<const TraceSpan> spans);

/// One trace of all processes in the Chrome trace format, a JSON object with `traceEvents`, for
/// https://ui.perfetto.dev and chrome://tracing. Times are microseconds since the first span or
/// chunk. `about` (an object) goes into `otherData`. There every process is listed with its number
/// of spans, the dropped ones, the steps that it covers and its clock. Pure.
std::string ChromeTrace(std::span<const ProcessTrace> processes, nlohmann::json about);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_TIMELINE_CHROME_TRACE_H_

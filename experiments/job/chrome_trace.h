#ifndef RINGSIDE_EXPERIMENTS_JOB_CHROME_TRACE_H_
#define RINGSIDE_EXPERIMENTS_JOB_CHROME_TRACE_H_

#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>
#include <vector>

#include "experiments/job/process_trace.h"

namespace ringside {

/// For every span the row of its lane that shows it: 0, 1, ... In a row spans nest or do not
/// overlap, as the format asks; the first row that takes a span gets it, in order of begin (longest
/// first).
std::vector<int> LayOutRows(std::span<const TraceSpan> spans);

/// One trace of all processes, in the Chrome trace format that https://ui.perfetto.dev and
/// chrome://tracing open: a JSON object with `traceEvents`. Microseconds since the first span.
/// `about` (an object) goes into `otherData`, where every process is listed with its spans, those
/// it dropped, the steps it covers and its clock. Pure.
std::string ChromeTrace(std::span<const ProcessTrace> processes, nlohmann::json about);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_CHROME_TRACE_H_

#ifndef RINGSIDE_EXPERIMENTS_JOB_TRACE_MERGE_H_
#define RINGSIDE_EXPERIMENTS_JOB_TRACE_MERGE_H_

#include <cstdint>
#include <span>
#include <string>

namespace ringside {

struct MergedTrace {
  std::string text;
  std::int64_t dropped_spans = 0;  ///< Of all processes; also in the text, under `otherData`.
};

/// One Chrome trace of those that `Timeline::ChromeTrace` made in several processes: their events,
/// one list. Their clocks are one where they ran on one machine. Empty traces are left out. Cuts
/// text, because a trace may have a million events.
MergedTrace MergeTraces(std::span<const std::string> traces);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_TRACE_MERGE_H_

#ifndef RINGSIDE_EXPERIMENTS_DEMO_RECORDED_RUN_H_
#define RINGSIDE_EXPERIMENTS_DEMO_RECORDED_RUN_H_

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ringside/common/measure/timeline.h"
#include "ringside/experiments/demo/transfers.h"
#include "ringside/experiments/job/timeline/chunk_file.h"

namespace ringside {

/// The `status` of a run that ended well.
inline constexpr char kStatusDone[] = "done";

/// A span of the trace. Times are nanoseconds of the record.
struct RecordedSpan {
  int process = 0;  ///< As in `ChunkFile`: workers by rank, then dedicated servers.
  int lane = 0;     ///< `TimelineLane`.
  SpanKind kind = SpanKind::kData;
  std::int64_t step = 0;
  int bucket = -1;
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// What a bundle holds of a run that was recorded with --timeline.
struct RecordedRun {
  std::filesystem::path directory;
  nlohmann::json summary;
  ChunkFile chunks;
  ChunkTraffic traffic;
  std::vector<RecordedSpan> spans;  ///< By begin.
  std::vector<std::string>
      notes;  ///< What the record lacks, what limited the run: a sentence each.

  int workers() const;
  int servers() const;
};

/// Reads a bundle. What is missing of the record becomes a note: a run without a trace, a trace
/// that is cut off or damaged, a record of chunks that ends early, dropped events. Throws `Error`
/// where `directory` is no bundle of a finished run, where it has no record at all, and `DataError`
/// where the chunks are damaged or of a newer format.
RecordedRun ReadRecordedRun(const std::filesystem::path& directory);

/// The spans of a trace in the Chrome trace format, as `ChromeTrace` writes them. `path` is for
/// errors. Throws `DataError`.
std::vector<RecordedSpan> ParseTraceSpans(std::string_view text, const std::string& path);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_DEMO_RECORDED_RUN_H_

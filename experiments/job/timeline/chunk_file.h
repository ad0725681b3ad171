#ifndef RINGSIDE_EXPERIMENTS_JOB_TIMELINE_CHUNK_FILE_H_
#define RINGSIDE_EXPERIMENTS_JOB_TIMELINE_CHUNK_FILE_H_

#include <cstdint>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ringside/experiments/job/timeline/chunk_trace.h"
#include "ringside/experiments/job/timeline/process_trace.h"

namespace ringside {

/// The name of the file in a bundle. docs/record.md has its format.
inline constexpr std::string_view kChunkFile = "chunks.jsonl";
/// The version of the format that this program writes and reads.
inline constexpr int kChunkFormat = 2;

/// The chunks of all processes as lines of JSON: a head, an array for each chunk, an end that has
/// the SHA-256 of the lines before it. Times begin with the first span or chunk, as in
/// `ChromeTrace`. `about` (an object) goes into the head. Pure.
std::string ChunkFileText(std::span<const ProcessTrace> processes, nlohmann::json about);

/// The content of a file of chunks.
struct ChunkFile {
  struct Row {
    int process = 0;  ///< Index in `processes`.
    TraceChunk chunk;
  };
  nlohmann::json head;  ///< `workers` and both counts of servers are at most `kMostNodes`.
  struct Process {
    std::string name;
    std::string host;  ///< Empty: unknown.
  };
  std::vector<Process> processes;
  std::vector<Row> rows;
  std::uint64_t dropped = 0;  ///< Chunks that the run had no room for.
  bool complete = false;      ///< False: the file ends before its last line.
  bool changed = false;       ///< The lines do not have the checksum in the last line.
};

/// Reads such a file. A file that is cut off gives what there is. Throws `DataError` that names
/// `path` and the line for a line that is no chunk, and for another format.
ChunkFile ReadChunkFile(const std::string& path);
/// The same from the text of a file.
ChunkFile ParseChunkFile(std::string_view text, const std::string& path);

/// Of all spans and chunks, the first begin; 0 without any.
std::int64_t TraceOrigin(std::span<const ProcessTrace> processes);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_TIMELINE_CHUNK_FILE_H_

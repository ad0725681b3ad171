#include "ringside/experiments/job/timeline/chunk_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <optional>
#include <stdexcept>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/system/files/files.h"
#include "ringside/experiments/system/files/sha256.h"

namespace ringside {
namespace {

using nlohmann::json;

constexpr std::array kColumns{"process", "server", "action", "phase",   "peer",
                              "step",    "bucket", "piece",  "offset",  "elements",
                              "bytes",   "begin",  "end",    "version", "staleness"};

constexpr std::size_t kMostBytes = std::size_t{256} << 20;

/// What is wrong with a line.
struct BadLine : std::runtime_error {
  using std::runtime_error::runtime_error;
};

std::string Text(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

void AppendChunk(std::string& out, std::size_t process, const TraceChunk& chunk,
                 std::int64_t origin) {
  fmt::format_to(std::back_inserter(out), R"([{},{},"{}","{}",{},{},{},{},{},{},{},{},{},{},{}])",
                 process, chunk.server, ChunkActionName(chunk.action), ChunkPhaseName(chunk.phase),
                 chunk.peer, chunk.step, chunk.bucket, chunk.piece,
                 chunk.offset ? fmt::to_string(*chunk.offset) : "null", chunk.elements, chunk.bytes,
                 chunk.begin - origin, chunk.end - origin, chunk.version, chunk.staleness);
  out += '\n';
}

template <typename Value>
Value Named(const json& name, Value last, const char* (*name_of)(Value)) {
  for (int value = 0; value <= static_cast<int>(last); ++value) {
    if (name == name_of(static_cast<Value>(value))) return static_cast<Value>(value);
  }
  throw BadLine(fmt::format("{} is not a known name", Text(name)));
}

std::int64_t Number(const json& row, std::size_t column, std::int64_t least, std::int64_t most) {
  const json& value = row[column];
  const bool large = value.is_number_unsigned() &&
                     value.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max();
  if (value.is_number_integer() && !large) {
    const auto number = value.get<std::int64_t>();
    if (number >= least && number <= most) return number;
  }
  throw BadLine(fmt::format("'{}' is {}", kColumns[column], Text(value)));
}

ChunkFile::Row RowOf(const json& row, std::size_t processes) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / 4;
  constexpr std::int64_t kMostIndex = std::numeric_limits<int>::max();
  if (!row.is_array() || row.size() != kColumns.size()) {
    throw BadLine(fmt::format("a chunk is an array of {} values", kColumns.size()));
  }
  const auto index = [&](std::size_t column) {
    return static_cast<int>(Number(row, column, -1, kMostIndex));
  };
  const auto size = [&](std::size_t column) {
    return static_cast<std::uint64_t>(Number(row, column, 0, kMost));
  };
  ChunkFile::Row out;
  out.process = static_cast<int>(Number(row, 0, 0, static_cast<std::int64_t>(processes) - 1));
  TraceChunk& chunk = out.chunk;
  chunk.server = static_cast<int>(Number(row, 1, -1, kMostNodes - 1));
  chunk.action = Named(row[2], kLastChunkAction, ChunkActionName);
  chunk.phase = Named(row[3], kLastChunkPhase, ChunkPhaseName);
  chunk.peer = static_cast<int>(Number(row, 4, -1, kMostNodes - 1));
  chunk.step = Number(row, 5, -kMost, kMost);
  chunk.bucket = index(6);
  chunk.piece = index(7);
  if (!row[8].is_null()) chunk.offset = size(8);
  chunk.elements = size(9);
  chunk.bytes = size(10);
  chunk.begin = Number(row, 11, 0, kMost);
  chunk.end = Number(row, 12, chunk.begin, kMost);
  chunk.version = Number(row, 13, -1, kMost);
  chunk.staleness = Number(row, 14, -1, kMost);
  return out;
}

void CheckNodes(const json& head, const char* key, int least) {
  const json value = head.value(key, json());
  if (value.is_number_integer() && value >= least && value <= kMostNodes) return;
  throw BadLine(fmt::format("'{}' is {}", key, Text(value)));
}

std::string TextOf(const json& object, const char* key) {
  const json value = object.value(key, json());
  return value.is_string() ? value.get<std::string>() : std::string();
}

ChunkFile FileOfHead(const json& head) {
  const json format = head.is_object() ? head.value("format", json()) : json();
  if (!format.is_number_integer() || !head.contains("processes") || !head["processes"].is_array()) {
    throw BadLine("this is not the head of a record of chunks");
  }
  if (format != kChunkFormat) {
    throw BadLine(
        fmt::format("the record has format {}, and this program reads {}: it was "
                    "written by {} program",
                    Text(format), kChunkFormat, format > kChunkFormat ? "a newer" : "an older"));
  }
  CheckNodes(head, "workers", 1);
  CheckNodes(head, "servers", 0);
  CheckNodes(head, "dedicated_servers", 0);
  ChunkFile file;
  file.head = head;
  for (const json& process : head["processes"]) {
    if (!process.is_object()) throw BadLine("a process in the head is not an object");
    file.processes.push_back({TextOf(process, "name"), TextOf(process, "host")});
    const json dropped = process.value("dropped", json(0));
    if (dropped.is_number_unsigned()) file.dropped += dropped.get<std::uint64_t>();
  }
  return file;
}

std::string HashOf(std::string_view text) { return Sha256Hex(std::as_bytes(std::span(text))); }

/// Reads the last line. `before` are the lines before it.
void ReadEnd(const json& end, std::string_view before, ChunkFile& file) {
  if (end.value("chunks", json()) != file.rows.size()) {
    throw BadLine("the number of chunks is another one");
  }
  const json sha256 = end.value("sha256", json());
  if (!sha256.is_string()) throw BadLine("the checksum is missing");
  file.complete = true;
  file.changed = sha256 != HashOf(before);
}

/// The last line may be a part of one.
std::optional<json> ParsedLine(std::string_view line, bool last) {
  json value = json::parse(line, nullptr, false);
  if (!value.is_discarded()) return value;
  if (last) return std::nullopt;
  throw BadLine("this is not JSON");
}

}  // namespace

std::int64_t TraceOrigin(std::span<const ProcessTrace> processes) {
  std::int64_t origin = std::numeric_limits<std::int64_t>::max();
  for (const ProcessTrace& process : processes) {
    for (const TraceSpan& span : process.spans) origin = std::min(origin, span.begin);
    for (const TraceChunk& chunk : process.chunks) origin = std::min(origin, chunk.begin);
  }
  return origin == std::numeric_limits<std::int64_t>::max() ? 0 : origin;
}

std::string ChunkFileText(std::span<const ProcessTrace> processes, json about) {
  const std::int64_t origin = TraceOrigin(processes);
  std::size_t count = 0;
  json listed = json::array();
  for (const ProcessTrace& process : processes) {
    count += process.chunks.size();
    listed.push_back({{"name", process.name},
                      {"host", process.host},
                      {"chunks", process.chunks.size()},
                      {"dropped", process.dropped_chunks}});
  }
  about["format"] = kChunkFormat;
  about["columns"] = kColumns;
  about["processes"] = std::move(listed);
  std::string out = Text(about) + "\n";
  out.reserve(out.size() + 96 * count);
  for (std::size_t i = 0; i < processes.size(); ++i) {
    for (const TraceChunk& chunk : processes[i].chunks) AppendChunk(out, i, chunk, origin);
  }
  const std::string sha256 = HashOf(out);
  return out + Text({{"chunks", count}, {"sha256", sha256}}) + "\n";
}

ChunkFile ParseChunkFile(std::string_view text, const std::string& path) {
  ChunkFile file;
  const std::string_view all = text;
  std::size_t number = 0;
  while (!text.empty() && !file.complete) {
    const std::size_t end = text.find('\n');
    const bool last = end == std::string_view::npos;
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(last ? text.size() : end + 1);
    ++number;
    try {
      const std::optional<json> value = ParsedLine(line, last);
      if (!value) break;
      if (number == 1) {
        file = FileOfHead(*value);
      } else if (value->is_object()) {
        ReadEnd(*value, all.substr(0, static_cast<std::size_t>(line.data() - all.data())), file);
      } else {
        file.rows.push_back(RowOf(*value, file.processes.size()));
      }
    } catch (const BadLine& problem) {
      throw DataError(fmt::format("{}:{}", path, number), problem.what());
    }
  }
  if (file.head.is_null()) throw DataError(path, "the head of the record is missing");
  return file;
}

ChunkFile ReadChunkFile(const std::string& path) {
  return ParseChunkFile(ReadFile(path, kMostBytes), path);
}

}  // namespace ringside

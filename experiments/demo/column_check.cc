#include "ringside/experiments/demo/column_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>

namespace ringside {
namespace {

using nlohmann::json;
using Row = ChunkFile::Row;

/// Counts the values that should be one, and gives the most common. There must be one.
template <typename Value>
class Common {
 public:
  void Add(const Value& value) { ++counts_[value]; }
  bool any() const { return !counts_.empty(); }
  const Value& Get() const {
    return std::ranges::max_element(counts_, {}, [](const auto& entry) { return entry.second; })
        ->first;
  }

 private:
  std::map<Value, std::size_t> counts_;
};

class ColumnChecker {
 public:
  ColumnChecker(const RecordedRun& run, const RecordFacts& facts, RecordProblems& problems)
      : run_(run), facts_(facts), problems_(problems) {}

  void Check() {
    for (const Row& row : run_.chunks.rows) CheckRow(row);
    CheckServers();
    CheckPieces();
    CheckSlices();
    CheckCounts();
  }

 private:
  static bool IsSlice(const TraceChunk& chunk) {
    return chunk.server < 0 && chunk.action == ChunkAction::kUpdate;
  }

  void Require(bool right, const Row& row, const char* column) {
    if (!right) problems_.Add(fmt::format("{}: its '{}' cannot be right", RowName(row), column));
  }

  void CheckRow(const Row& row) {
    const TraceChunk& chunk = row.chunk;
    Require(chunk.begin <= chunk.end, row, "end");
    Require(!facts_.knows_buckets() || facts_.ElementsOf(chunk.bucket), row, "bucket");
    if (chunk.server >= 0) {
      CheckOfServer(row);
    } else {
      Require(row.process < facts_.workers, row, "process");
      Require(chunk.offset.has_value(), row, "offset");
      IsSlice(chunk) ? CheckSlice(row) : (chunk.piece >= 0 ? CheckOfWorker(row) : CheckOfLink(row));
      CheckRange(row);
    }
    if (!IsSlice(chunk)) CheckBytes(row);
  }

  void CheckOfServer(const Row& row) {
    const TraceChunk& chunk = row.chunk;
    const bool answers = chunk.action == ChunkAction::kSend;
    const bool updates = chunk.action == ChunkAction::kUpdate;
    Require(chunk.server < facts_.servers, row, "server");
    Require(chunk.phase == (answers ? ChunkPhase::kPull : ChunkPhase::kPush), row, "phase");
    Require(!chunk.offset, row, "offset");
    Require(chunk.piece >= 0, row, "piece");
    Require(chunk.peer >= (updates ? -1 : 0) && chunk.peer < facts_.workers, row, "peer");
    Require(chunk.version >= 0, row, "version");
    Require(answers || chunk.staleness == -1, row, "staleness");
    Require(!updates || chunk.bytes == 0, row, "bytes");
    Require(!answers || chunk.begin == chunk.end, row, "end");
  }

  /// A worker with servers.
  void CheckOfWorker(const Row& row) {
    const TraceChunk& chunk = row.chunk;
    const bool pushes = chunk.action == ChunkAction::kSend;
    Require(chunk.phase == (pushes ? ChunkPhase::kPush : ChunkPhase::kPull), row, "phase");
    Require(chunk.peer >= 0 && chunk.peer < facts_.servers, row, "peer");
    Require(chunk.version >= 0, row, "version");
    Require(!pushes || chunk.staleness == -1, row, "staleness");
  }

  /// A worker that sends to other workers.
  void CheckOfLink(const Row& row) {
    const TraceChunk& chunk = row.chunk;
    Require(chunk.phase < ChunkPhase::kPush, row, "phase");
    Require(chunk.peer >= 0 && chunk.peer < facts_.workers && chunk.peer != row.process, row,
            "peer");
    Require(chunk.version == -1, row, "version");
    Require(chunk.staleness == -1, row, "staleness");
  }

  void CheckSlice(const Row& row) {
    const TraceChunk& chunk = row.chunk;
    Require(chunk.phase == ChunkPhase::kSlice, row, "phase");
    Require(chunk.peer == -1, row, "peer");
    Require(chunk.piece == -1, row, "piece");
    Require(chunk.version == -1, row, "version");
    Require(chunk.staleness == -1, row, "staleness");
    // It reads the gradients of all others.
    const auto others = static_cast<std::uint64_t>(facts_.workers - 1);
    Require(chunk.bytes == chunk.elements * sizeof(float) * others, row, "bytes");
  }

  void CheckRange(const Row& row) {
    const TraceChunk& chunk = row.chunk;
    const auto all = facts_.ElementsOf(chunk.bucket);
    if (!all || !chunk.offset || chunk.elements == 0) return;
    const std::uint64_t begin = facts_.OffsetOf(chunk.bucket);
    Require(*chunk.offset >= begin && *chunk.offset - begin <= *all, row, "offset");
    Require(*chunk.offset + chunk.elements <= begin + *all, row, "elements");
  }

  void CheckBytes(const Row& row) {
    const TraceChunk& chunk = row.chunk;
    if (!facts_.plain || chunk.action == ChunkAction::kUpdate || chunk.elements == 0) return;
    Require(chunk.bytes == chunk.elements * sizeof(float), row, "bytes");
  }

  /// A server is in one process.
  void CheckServers() {
    std::map<int, Common<int>> processes;
    for (const Row& row : run_.chunks.rows) {
      if (row.chunk.server >= 0) processes[row.chunk.server].Add(row.process);
    }
    for (const Row& row : run_.chunks.rows) {
      if (row.chunk.server < 0) continue;
      Require(row.process == processes[row.chunk.server].Get(), row, "process");
    }
  }

  struct Piece {
    Common<int> bucket, server;
    Common<std::uint64_t> elements, offset;
  };

  static int ServerOf(const TraceChunk& chunk) {
    return chunk.server >= 0 ? chunk.server : chunk.peer;
  }

  void CheckPieces() {
    std::map<int, Piece> pieces;
    for (const Row& row : run_.chunks.rows) {
      const TraceChunk& chunk = row.chunk;
      if (chunk.piece < 0) continue;
      Piece& piece = pieces[chunk.piece];
      piece.bucket.Add(chunk.bucket);
      piece.server.Add(ServerOf(chunk));
      piece.elements.Add(chunk.elements);
      if (chunk.offset) piece.offset.Add(*chunk.offset);
    }
    for (const Row& row : run_.chunks.rows) {
      const TraceChunk& chunk = row.chunk;
      if (chunk.piece < 0) continue;
      const Piece& piece = pieces[chunk.piece];
      Require(chunk.bucket == piece.bucket.Get(), row, "bucket");
      Require(ServerOf(chunk) == piece.server.Get(), row, chunk.server >= 0 ? "server" : "peer");
      Require(chunk.elements == piece.elements.Get(), row, "elements");
      Require(!chunk.offset || *chunk.offset == piece.offset.Get(), row, "offset");
    }
    if (facts_.whole) CheckTiling(pieces);
  }

  void CheckTiling(const std::map<int, Piece>& pieces) {
    std::map<int, std::uint64_t> ends;  // by bucket: where its pieces so far end
    for (const auto& [index, piece] : pieces) {
      const int bucket = piece.bucket.Get();
      if (!facts_.ElementsOf(bucket) || !piece.offset.any()) continue;
      const auto [end, first] = ends.try_emplace(bucket, facts_.OffsetOf(bucket));
      if (piece.offset.Get() != end->second) {
        problems_.Add(
            fmt::format("piece {} of bucket {} begins with element {}, and {} is the next one",
                        index, bucket, piece.offset.Get(), end->second));
      }
      end->second = piece.offset.Get() + piece.elements.Get();
    }
    for (const auto& [bucket, end] : ends) {
      const std::uint64_t expected =
          facts_.OffsetOf(bucket) + facts_.ElementsOf(bucket).value_or(0);
      if (end == expected) continue;
      problems_.Add(fmt::format("the pieces of bucket {} end at element {}, and the bucket at {}",
                                bucket, end, expected));
    }
  }

  void CheckSlices() {
    std::map<std::pair<std::int64_t, int>, std::vector<const Row*>> slices;
    for (const Row& row : run_.chunks.rows) {
      if (IsSlice(row.chunk)) slices[{row.chunk.step, row.chunk.bucket}].push_back(&row);
    }
    for (auto& [key, rows] : slices) {
      std::ranges::stable_sort(rows, {}, &Row::process);
      const auto& [step, bucket] = key;
      bool each = static_cast<int>(rows.size()) == facts_.workers;
      for (std::size_t i = 0; i < rows.size() && each; ++i) {
        each = rows[i]->process == static_cast<int>(i);
      }
      if (each) {
        CheckSlicesOf(rows, bucket);
      } else if (facts_.whole) {
        problems_.Add(
            fmt::format("bucket {} in step {} has {} slices, and not one of each of {} workers",
                        bucket, step, rows.size(), facts_.workers));
      }
    }
  }

  void CheckSlicesOf(const std::vector<const Row*>& rows, int bucket) {
    const auto all = facts_.ElementsOf(bucket);
    if (!all) return;
    std::uint64_t next = facts_.OffsetOf(bucket);
    const std::uint64_t end = next + *all;
    for (const Row* row : rows) {
      Require(row->chunk.offset == next, *row, "offset");
      next += row->chunk.elements;
    }
    Require(next == end, *rows.back(), "elements");
  }

  void CheckCounts() {
    const json told = run_.chunks.head.value("processes", json());
    if (!run_.chunks.complete || !told.is_array()) return;
    std::vector<std::uint64_t> counts(told.size(), 0);
    for (const Row& row : run_.chunks.rows) {
      if (row.process < static_cast<int>(counts.size())) {
        ++counts[static_cast<std::size_t>(row.process)];
      }
    }
    for (std::size_t i = 0; i < told.size(); ++i) {
      const json count = told[i].is_object() ? told[i].value("chunks", json()) : json();
      if (!count.is_number_unsigned() || count == counts[i]) continue;
      problems_.Add(fmt::format("process {} has {} events, and the head says {}", i, counts[i],
                                count.get<std::uint64_t>()));
    }
  }

  const RecordedRun& run_;
  const RecordFacts& facts_;
  RecordProblems& problems_;
};

}  // namespace

void CheckColumns(const RecordedRun& run, const RecordFacts& facts, RecordProblems& problems) {
  ColumnChecker(run, facts, problems).Check();
}

}  // namespace ringside

#ifndef RINGSIDE_EXPERIMENTS_DEMO_RECORD_FACTS_H_
#define RINGSIDE_EXPERIMENTS_DEMO_RECORD_FACTS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ringside/experiments/demo/recorded_run.h"

namespace ringside {

/// Times of a record are whole nanoseconds. Two that are equal may differ by that much.
inline constexpr std::int64_t kRecordRounding = 2;

/// What the head of a record and the summary of its run say. The checks of the record rest on it.
struct RecordFacts {
  explicit RecordFacts(const RecordedRun& run);

  /// The elements of a bucket; absent: unknown.
  std::optional<std::uint64_t> ElementsOf(int bucket) const;
  /// The first element of a bucket in the flat vectors. Buckets lie one after another.
  std::uint64_t OffsetOf(int bucket) const { return offsets_[static_cast<std::size_t>(bucket)]; }
  /// How far from its true value the end of an event may be, in nanoseconds. It is the begin and a
  /// duration. Clocks of two hosts drift against each other, and only begins are corrected.
  std::int64_t ExactnessOf(const TraceChunk& chunk) const {
    return kRecordRounding + (one_host ? 0 : (chunk.end - chunk.begin) / 1000);
  }
  bool knows_buckets() const { return !elements_.empty(); }

  int workers = 1;
  int servers = 0;
  std::string strategy;
  bool ring = false;
  bool hides_chunks = false;     ///< The library that sums shows no chunks.
  bool sums_at_pauses = false;   ///< Then the kernel's count, which is of steps, has less.
  bool updates_by_step = false;  ///< Servers make one update in each step.
  bool plain = true;             ///< Elements are sent as 4 bytes each.
  bool one_host = true;          ///< So all processes have one clock.
  bool whole = false;            ///< The run has ended well, and nothing is missing.
  bool all_steps = false;        ///< All steps were recorded.

 private:
  std::vector<std::uint64_t> elements_, offsets_;  // by bucket
};

/// What cannot be true in a record, a sentence each. Keeps the first `most` and counts the others.
class RecordProblems {
 public:
  explicit RecordProblems(std::size_t most) : most_(most) {}

  void Add(std::string problem);
  std::vector<std::string> Take() { return std::move(problems_); }
  std::size_t further() const { return further_; }

 private:
  const std::size_t most_;
  std::vector<std::string> problems_;
  std::size_t further_ = 0;
};

/// "worker 1" or "server 0"; `node` counts workers, then servers.
std::string NodeName(int node, int workers);
/// Who recorded what: "worker 1, receive, all-gather of bucket 0 in step 2".
std::string RowName(const ChunkFile::Row& row);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_DEMO_RECORD_FACTS_H_

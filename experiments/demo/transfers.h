#ifndef RINGSIDE_EXPERIMENTS_DEMO_TRANSFERS_H_
#define RINGSIDE_EXPERIMENTS_DEMO_TRANSFERS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "ringside/experiments/job/timeline/chunk_file.h"

namespace ringside {

/// A chunk on its way from one node to another, made of what both ends recorded. Nodes are
/// numbered: workers by rank, then servers. Times are nanoseconds of the record; -1: nobody
/// recorded it.
struct ChunkTransfer {
  int from = 0;
  int to = 0;  ///< `from` for a slice in shared memory.
  ChunkPhase phase = ChunkPhase::kPush;
  std::int64_t step = 0;
  int bucket = -1;
  int piece = -1;
  std::optional<std::uint64_t> offset = {};  ///< In the flat vectors, in elements.
  std::uint64_t elements = 0;
  std::uint64_t bytes_sent = 0;      ///< As the sender counted; 0 without its event.
  std::uint64_t bytes_received = 0;  ///< As the receiver counted; 0 without its event.
  std::int64_t begin = -1;           ///< The sender began.
  std::int64_t sent = -1;            ///< The sender's transport had taken it.
  std::int64_t asked = -1;           ///< The receiver began to wait.
  std::int64_t arrived = -1;         ///< It was there, and added if the phase adds.
  std::int64_t version = -1;         ///< As the sender says, or else the receiver.
  std::int64_t staleness = -1;       ///< The same; of a push, what its answer says.
  std::int64_t version_received = -1;
  std::int64_t staleness_received = -1;

  std::uint64_t bytes() const { return bytes_sent > 0 ? bytes_sent : bytes_received; }
  /// The first and the last time that is known.
  std::int64_t first() const;
  std::int64_t last() const;
};

/// A server has updated the parameters of a piece.
struct ParameterUpdate {
  int node = 0;
  std::int64_t step = 0;
  int bucket = -1;
  int piece = -1;
  std::optional<std::uint64_t> offset = {};
  std::uint64_t elements = 0;
  std::int64_t version = 0;  ///< The new one.
  int last = -1;             ///< The worker whose push was the last; -1: unknown.
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

struct ChunkTraffic {
  std::vector<ChunkTransfer> transfers;  ///< By first time.
  std::vector<ParameterUpdate> updates;  ///< By begin.
};

/// Joins the events of senders with those of receivers. The k-th event of a sender belongs to the
/// k-th one of the receiver for the same chunk, because links keep the order. What only one end
/// recorded is kept. `workers` is the number of workers of the run. Pure.
ChunkTraffic JoinTraffic(const ChunkFile& file, int workers);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_DEMO_TRANSFERS_H_

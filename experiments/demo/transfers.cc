#include "ringside/experiments/demo/transfers.h"

#include <algorithm>
#include <array>
#include <deque>
#include <limits>
#include <map>
#include <tuple>

namespace ringside {
namespace {

/// Where the element that a piece begins with lies. Servers do not know it, but workers do.
using PieceOffsets = std::map<int, std::uint64_t>;

/// What two events of one transfer have in common.
using Key = std::tuple<int, int, ChunkPhase, std::int64_t, int, int, std::uint64_t, std::uint64_t>;

struct Route {
  int from = 0;
  int to = 0;
};

/// The node that recorded the event, and the one at the other end.
Route RouteOf(const ChunkFile::Row& row, int workers) {
  const TraceChunk& chunk = row.chunk;
  const bool by_server = chunk.server >= 0;
  const int self = by_server ? workers + chunk.server : row.process;
  const int other = !by_server && chunk.piece >= 0 ? workers + chunk.peer : chunk.peer;
  if (chunk.action == ChunkAction::kUpdate) return {self, self};
  return chunk.action == ChunkAction::kSend ? Route{self, other} : Route{other, self};
}

Key KeyOf(const TraceChunk& chunk, const Route& route) {
  // A server does not know the offset; the piece says the same.
  const std::uint64_t offset = chunk.piece >= 0 ? 0 : chunk.offset.value_or(0);
  return {route.from,   route.to,    chunk.phase, chunk.step,
          chunk.bucket, chunk.piece, offset,      chunk.elements};
}

PieceOffsets OffsetsOf(const ChunkFile& file) {
  PieceOffsets offsets;
  for (const ChunkFile::Row& row : file.rows) {
    if (row.chunk.piece >= 0 && row.chunk.offset) offsets[row.chunk.piece] = *row.chunk.offset;
  }
  return offsets;
}

std::optional<std::uint64_t> OffsetOf(const TraceChunk& chunk, const PieceOffsets& offsets) {
  if (chunk.offset) return chunk.offset;
  const auto found = offsets.find(chunk.piece);
  if (found == offsets.end()) return std::nullopt;
  return found->second;
}

void AddSender(ChunkTransfer& transfer, const TraceChunk& chunk) {
  transfer.begin = chunk.begin;
  transfer.sent = chunk.end;
  transfer.bytes_sent = chunk.bytes;
  transfer.version = chunk.version;
  transfer.staleness = chunk.staleness;
}

void AddReceiver(ChunkTransfer& transfer, const TraceChunk& chunk) {
  if (chunk.server < 0) transfer.asked = chunk.begin;
  transfer.arrived = chunk.end;
  transfer.bytes_received = chunk.bytes;
  transfer.version_received = chunk.version;
  transfer.staleness_received = chunk.staleness;
}

/// Pairs events in the order of their times.
class Joiner {
 public:
  Joiner(const PieceOffsets& offsets, int workers) : offsets_(offsets), workers_(workers) {}

  void Add(const ChunkFile::Row& row) {
    const TraceChunk& chunk = row.chunk;
    const Route route = RouteOf(row, workers_);
    const bool sends = chunk.action == ChunkAction::kSend;
    Ends& ends = open_[KeyOf(chunk, route)];
    std::deque<std::size_t>& others = sends ? ends.received : ends.sent;
    std::size_t index = transfers_.size();
    if (others.empty()) {
      (sends ? ends.sent : ends.received).push_back(index);
      transfers_.push_back(Begun(chunk, route));
    } else {
      index = others.front();
      others.pop_front();
    }
    ChunkTransfer& transfer = transfers_[index];
    sends ? AddSender(transfer, chunk) : AddReceiver(transfer, chunk);
  }

  void AddSlice(const ChunkFile::Row& row) {
    ChunkTransfer slice = Begun(row.chunk, RouteOf(row, workers_));
    AddSender(slice, row.chunk);
    slice.arrived = row.chunk.end;
    slice.bytes_received = row.chunk.bytes;
    transfers_.push_back(slice);
  }

  std::vector<ChunkTransfer> Take() { return std::move(transfers_); }

 private:
  /// Transfers of which one end is known.
  struct Ends {
    std::deque<std::size_t> sent, received;
  };

  ChunkTransfer Begun(const TraceChunk& chunk, const Route& route) const {
    ChunkTransfer transfer;
    transfer.from = route.from;
    transfer.to = route.to;
    transfer.phase = chunk.phase;
    transfer.step = chunk.step;
    transfer.bucket = chunk.bucket;
    transfer.piece = chunk.piece;
    transfer.offset = OffsetOf(chunk, offsets_);
    transfer.elements = chunk.elements;
    return transfer;
  }

  const PieceOffsets& offsets_;
  const int workers_;
  std::map<Key, Ends> open_;
  std::vector<ChunkTransfer> transfers_;
};

ParameterUpdate UpdateOf(const ChunkFile::Row& row, const PieceOffsets& offsets, int workers) {
  const TraceChunk& chunk = row.chunk;
  return {.node = RouteOf(row, workers).from,
          .step = chunk.step,
          .bucket = chunk.bucket,
          .piece = chunk.piece,
          .offset = OffsetOf(chunk, offsets),
          .elements = chunk.elements,
          .version = chunk.version,
          .last = chunk.peer,
          .begin = chunk.begin,
          .end = chunk.end};
}

/// Where the sender's event is missing, the receiver's counts.
void Complete(ChunkTransfer& transfer) {
  if (transfer.begin >= 0) return;
  transfer.version = transfer.version_received;
  transfer.staleness = transfer.staleness_received;
}

/// An answer tells how stale the gradient was that it answers.
void TellPushes(std::vector<ChunkTransfer>& transfers) {
  std::map<std::tuple<int, int, int, std::int64_t>, std::int64_t> told;
  for (const ChunkTransfer& pull : transfers) {
    if (pull.phase == ChunkPhase::kPull) {
      told[{pull.to, pull.from, pull.piece, pull.step}] = pull.staleness;
    }
  }
  for (ChunkTransfer& push : transfers) {
    if (push.phase != ChunkPhase::kPush) continue;
    const auto found = told.find({push.from, push.to, push.piece, push.step});
    if (found != told.end()) push.staleness = found->second;
  }
}

std::vector<const ChunkFile::Row*> InOrder(const ChunkFile& file) {
  std::vector<const ChunkFile::Row*> rows;
  for (const ChunkFile::Row& row : file.rows) rows.push_back(&row);
  std::ranges::stable_sort(rows, {}, [](const ChunkFile::Row* row) { return row->chunk.end; });
  return rows;
}

}  // namespace

std::int64_t ChunkTransfer::first() const {
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (const std::int64_t time : {begin, sent, asked, arrived}) {
    if (time >= 0) first = std::min(first, time);
  }
  return first;
}

std::int64_t ChunkTransfer::last() const { return std::max({begin, sent, asked, arrived}); }

ChunkTraffic JoinTraffic(const ChunkFile& file, int workers) {
  const PieceOffsets offsets = OffsetsOf(file);
  Joiner joiner(offsets, workers);
  ChunkTraffic traffic;
  for (const ChunkFile::Row* row : InOrder(file)) {
    if (row->chunk.action != ChunkAction::kUpdate) {
      joiner.Add(*row);
    } else if (row->chunk.server >= 0) {
      traffic.updates.push_back(UpdateOf(*row, offsets, workers));
    } else {
      joiner.AddSlice(*row);
    }
  }
  traffic.transfers = joiner.Take();
  for (ChunkTransfer& transfer : traffic.transfers) Complete(transfer);
  TellPushes(traffic.transfers);
  std::ranges::stable_sort(traffic.transfers, {}, &ChunkTransfer::first);
  std::ranges::stable_sort(traffic.updates, {}, &ParameterUpdate::begin);
  return traffic;
}

}  // namespace ringside

#include "ringside/experiments/demo/order_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <string>
#include <tuple>

namespace ringside {
namespace {

using Row = ChunkFile::Row;
using Rows = std::vector<const Row*>;

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::min();

bool IsOfLink(const TraceChunk& chunk) {
  return chunk.server < 0 && chunk.piece < 0 && chunk.action != ChunkAction::kUpdate;
}

/// What one rank did for one sum, as far as its events tell. One thread made all its calls.
class SumCheck {
 public:
  SumCheck(Rows rows, const RecordFacts& facts, RecordProblems& problems)
      : rows_(std::move(rows)), facts_(facts), problems_(problems) {
    std::ranges::stable_sort(rows_, {}, [](const Row* row) { return row->chunk.begin; });
    for (const Row* row : rows_) {
      begins_.push_back(row->chunk.begin);
      ends_.push_back(row->chunk.end);
      // Until when chunks of several messages last that have begun so far.
      const std::int64_t before = open_until_.empty() ? kNever : open_until_.back();
      open_until_.push_back(IsOneMessage(row->chunk) ? before : std::max(before, row->chunk.end));
    }
    std::ranges::sort(ends_);
  }

  /// Nothing begins or ends while a message is sent or received.
  void CheckMessages() {
    for (const Row* row : rows_) {
      if (!IsOneMessage(row->chunk)) continue;
      const std::int64_t exactness = facts_.ExactnessOf(row->chunk);
      const std::int64_t from = row->chunk.begin + exactness;
      const std::int64_t to = row->chunk.end - exactness;
      if (Has(begins_, from, to) || Has(ends_, from, to)) {
        problems_.Add(
            fmt::format("{}: another chunk begins or ends during its only message", RowName(*row)));
      }
    }
  }

  /// Each call begins when the one before it ends. Both may be in the middle of a chunk.
  void CheckCalls() {
    const std::int64_t most = LeastExactness();
    for (const Row* row : rows_) {
      const TraceChunk& chunk = row->chunk;
      const std::int64_t exactness = facts_.ExactnessOf(chunk);
      const bool first = chunk.begin <= begins_.front();
      if (!first && !Has(ends_, chunk.begin - most, chunk.begin + most) && !InMiddle(chunk.begin)) {
        problems_.Add(fmt::format("{}: it begins at {} ns, and nothing before it ends then",
                                  RowName(*row), chunk.begin));
      }
      const bool last = chunk.end >= ends_.back();
      if (!last && !Has(begins_, chunk.end - exactness, chunk.end + exactness) &&
          !InMiddle(chunk.end)) {
        problems_.Add(fmt::format("{}: it ends at {} ns, and nothing after it begins then",
                                  RowName(*row), chunk.end));
      }
    }
  }

  /// Chunks that are sent do not overlap, nor do chunks that are received.
  void CheckSides() {
    std::map<ChunkAction, const Row*> before;
    for (const Row* row : rows_) {
      const Row*& last = before[row->chunk.action];
      if (last != nullptr && row->chunk.begin < last->chunk.end - facts_.ExactnessOf(last->chunk)) {
        problems_.Add(
            fmt::format("{}: it begins at {} ns, before the chunk before it ends at {} ns",
                        RowName(*row), row->chunk.begin, last->chunk.end));
      }
      last = row;
    }
  }

  /// A rank of a ring passes on what it has received.
  void CheckPassing() {
    std::map<std::pair<ChunkPhase, std::uint64_t>, const Row*> received;
    for (const Row* row : rows_) {
      const TraceChunk& chunk = row->chunk;
      if (chunk.action != ChunkAction::kReceive || !chunk.offset || chunk.elements == 0) continue;
      received[{chunk.phase, *chunk.offset}] = row;
    }
    for (const Row* row : rows_) {
      const TraceChunk& chunk = row->chunk;
      if (chunk.action != ChunkAction::kSend || !chunk.offset) continue;
      auto from = received.find({chunk.phase, *chunk.offset});
      if (from == received.end() && chunk.phase == ChunkPhase::kAllGather) {
        from = received.find({ChunkPhase::kReduceScatter, *chunk.offset});
      }
      if (from == received.end()) continue;
      const TraceChunk& source = from->second->chunk;
      if (chunk.begin >= source.begin - kRecordRounding &&
          chunk.end >= source.end - facts_.ExactnessOf(source)) {
        continue;
      }
      problems_.Add(
          fmt::format("{}: it is passed on from {} to {} ns, and received from {} to {} ns",
                      RowName(*row), chunk.begin, chunk.end, source.begin, source.end));
    }
  }

 private:
  // Chunks without elements are recorded message by message.
  static bool IsOneMessage(const TraceChunk& chunk) {
    return chunk.bytes <= kMostMessageBytes || chunk.elements == 0;
  }

  /// Whether one of the sorted `times` lies between both.
  static bool Has(const std::vector<std::int64_t>& times, std::int64_t from, std::int64_t to) {
    const auto found = std::ranges::lower_bound(times, from);
    return from <= to && found != times.end() && *found <= to;
  }

  /// Whether a chunk of several messages has begun before, and has not ended.
  bool InMiddle(std::int64_t time) const {
    const auto after = std::ranges::lower_bound(begins_, time) - begins_.begin();
    return after > 0 && open_until_[static_cast<std::size_t>(after) - 1] > time;
  }

  std::int64_t LeastExactness() const {
    std::int64_t most = kRecordRounding;
    for (const Row* row : rows_) most = std::max(most, facts_.ExactnessOf(row->chunk));
    return most;
  }

  Rows rows_;  // by begin
  const RecordFacts& facts_;
  RecordProblems& problems_;
  std::vector<std::int64_t> begins_, ends_, open_until_;  // sorted; the last one by row
};

/// The events of one piece at its server, in the order of the file.
class PieceCheck {
 public:
  PieceCheck(const RecordFacts& facts, RecordProblems& problems)
      : facts_(facts), problems_(problems) {}

  void Add(const Row& row) {
    const TraceChunk& chunk = row.chunk;
    switch (chunk.action) {
      case ChunkAction::kReceive:
        Follow(row, chunk.end);
        waiting_[{chunk.peer, chunk.step}] = chunk.version;
        break;
      case ChunkAction::kUpdate:
        Follow(row, chunk.begin);
        if (facts_.whole) CheckUpdate(row);
        time_ = chunk.end;
        break;
      case ChunkAction::kSend:
        Follow(row, chunk.begin);
        if (facts_.whole && facts_.all_steps) CheckAnswer(row);
        break;
    }
    last_ = &row;
  }

 private:
  void Follow(const Row& row, std::int64_t time) {
    const std::int64_t exactness = last_ == nullptr ? kRecordRounding
                                                    : std::max(facts_.ExactnessOf(row.chunk),
                                                               facts_.ExactnessOf(last_->chunk));
    if (time_ != kNever && time < time_ - exactness) {
      problems_.Add(fmt::format("{}: it is at {} ns, before the event before it at {} ns",
                                RowName(row), time, time_));
    }
    time_ = time;
  }

  void CheckUpdate(const Row& row) {
    const TraceChunk& update = row.chunk;
    const bool named = last_ != nullptr && last_->chunk.action == ChunkAction::kReceive &&
                       last_->chunk.peer == update.peer && last_->chunk.step == update.step;
    if (!named) {
      problems_.Add(
          fmt::format("{}: it names worker {}, whose push of that step is not the one before it",
                      RowName(row), update.peer));
    }
    if (facts_.updates_by_step && update.version != update.step + 1) {
      problems_.Add(fmt::format("{}: it makes version {}, and not {}", RowName(row), update.version,
                                update.step + 1));
    }
    version_ = update.version;
    for (const auto& [push, version] : waiting_) {
      staleness_[push] = update.version - 1 - version;
    }
    waiting_.clear();
  }

  void CheckAnswer(const Row& row) {
    const TraceChunk& answer = row.chunk;
    if (version_ >= 0 && answer.version != version_) {
      problems_.Add(fmt::format("{}: it has version {}, and the update before it made {}",
                                RowName(row), answer.version, version_));
    }
    const std::pair push(answer.peer, answer.step);
    // A push that came too late is in no update.
    const bool late = waiting_.erase(push) > 0;
    const auto used = staleness_.find(push);
    if (!late && used == staleness_.end()) {
      problems_.Add(
          fmt::format("{}: no push of worker {} waits for it", RowName(row), answer.peer));
    } else if (const std::int64_t expected = late ? -1 : used->second;
               answer.staleness != expected) {
      problems_.Add(fmt::format("{}: its staleness is {}, and the versions say {}", RowName(row),
                                answer.staleness, expected));
    }
    staleness_.erase(push);
  }

  const RecordFacts& facts_;
  RecordProblems& problems_;
  const Row* last_ = nullptr;
  std::int64_t time_ = kNever;
  std::int64_t version_ = -1;
  // By worker and step: the version of a gradient in the open update; staleness of an applied one.
  std::map<std::pair<int, std::int64_t>, std::int64_t> waiting_, staleness_;
};

struct Interval {
  std::int64_t begin = 0;
  std::int64_t end = 0;
  auto operator<=>(const Interval&) const = default;
};

/// One bucket of one process in one step.
using BucketStep = std::tuple<int, std::int64_t, int>;

BucketStep PlaceOf(const Row& row) { return {row.process, row.chunk.step, row.chunk.bucket}; }

class OrderChecker {
 public:
  OrderChecker(const RecordedRun& run, const RecordFacts& facts, RecordProblems& problems)
      : run_(run), facts_(facts), problems_(problems) {}

  void Check() {
    FindSpans();
    CheckSpans();
    CheckSums();
    CheckPieces();
    CheckPushes();
    CheckQueues();
    CheckUpdates();
  }

 private:
  void FindSpans() {
    for (const RecordedSpan& span : run_.spans) {
      const BucketStep place{span.process, span.step, span.bucket};
      const Interval time{span.begin, span.end};
      const bool wire = span.kind == SpanKind::kWire;
      const bool apply = span.kind == SpanKind::kApply;
      if (span.lane == kServerQueueLane && span.kind == SpanKind::kQueue) {
        queues_[place].push_back(time);
      } else if (span.lane == kServerLane && apply) {
        server_applies_[place].push_back(time);
      } else if (span.process < facts_.workers && span.lane <= kQueueLane) {
        if (wire) wires_[place].push_back(time);
        if (apply) applies_[place].push_back(time);
      }
    }
  }

  void CheckSpans() {
    for (const Row& row : run_.chunks.rows) {
      const TraceChunk& chunk = row.chunk;
      if (chunk.server >= 0) continue;
      if (chunk.action == ChunkAction::kUpdate) {
        CheckSlice(row);
        continue;
      }
      const auto found = wires_.find(PlaceOf(row));
      if (found == wires_.end()) continue;
      const bool inside = std::ranges::any_of(found->second, [&](const Interval& wire) {
        return chunk.begin >= wire.begin - kRecordRounding &&
               chunk.end <= wire.end + facts_.ExactnessOf(chunk);
      });
      if (inside) continue;
      problems_.Add(fmt::format("{}: it is at {} to {} ns, and its bucket has no 'wire' around it",
                                RowName(row), chunk.begin, chunk.end));
    }
  }

  void CheckSlice(const Row& row) {
    const auto found = applies_.find(PlaceOf(row));
    if (found == applies_.end()) return;
    const bool same = std::ranges::any_of(found->second, [&](const Interval& apply) {
      return std::abs(apply.begin - row.chunk.begin) <= kRecordRounding &&
             std::abs(apply.end - row.chunk.end) <= facts_.ExactnessOf(row.chunk);
    });
    if (!same)
      problems_.Add(fmt::format("{}: the trace has no 'apply' at the same time", RowName(row)));
  }

  void CheckSums() {
    std::map<BucketStep, Rows> sums;
    for (const Row& row : run_.chunks.rows) {
      if (IsOfLink(row.chunk)) sums[PlaceOf(row)].push_back(&row);
    }
    const std::string& strategy = facts_.strategy;
    const bool pairs = strategy == "halving-doubling" || strategy == "recursive-doubling";
    const bool known = facts_.ring || pairs || strategy == "tree";
    for (auto& [place, rows] : sums) {
      SumCheck sum(std::move(rows), facts_, problems_);
      sum.CheckMessages();
      // With a codec a bucket may need several sums.
      if (known && facts_.plain && facts_.whole) sum.CheckCalls();
      if (facts_.ring || pairs) sum.CheckSides();
      if (facts_.ring) sum.CheckPassing();
    }
  }

  void CheckPieces() {
    std::map<std::pair<int, int>, PieceCheck> pieces;
    for (const Row& row : run_.chunks.rows) {
      if (row.chunk.server < 0) continue;
      const auto [at, added] =
          pieces.try_emplace({row.chunk.server, row.chunk.piece}, facts_, problems_);
      at->second.Add(row);
    }
  }

  /// The two events of a worker and the first one of the server.
  void CheckPushes() {
    std::map<std::tuple<int, int, std::int64_t>, const Row*> pushes;
    for (const Row& row : run_.chunks.rows) {
      const TraceChunk& chunk = row.chunk;
      if (chunk.server < 0 && chunk.piece >= 0 && chunk.action == ChunkAction::kSend) {
        pushes[{row.process, chunk.piece, chunk.step}] = &row;
      }
    }
    for (const Row& row : run_.chunks.rows) {
      const TraceChunk& chunk = row.chunk;
      if (chunk.piece < 0 || chunk.action != ChunkAction::kReceive) continue;
      const bool by_server = chunk.server >= 0;
      const auto found =
          pushes.find({by_server ? chunk.peer : row.process, chunk.piece, chunk.step});
      if (found == pushes.end()) continue;
      const TraceChunk& push = found->second->chunk;
      if (by_server && chunk.begin < push.begin) {
        problems_.Add(fmt::format("{}: it came at {} ns, before it was sent at {} ns", RowName(row),
                                  chunk.begin, push.begin));
      }
      if (!by_server && std::abs(chunk.begin - push.end) > facts_.ExactnessOf(push)) {
        problems_.Add(fmt::format("{}: it begins at {} ns, and the push was sent at {} ns",
                                  RowName(row), chunk.begin, push.end));
      }
    }
  }

  /// The wait of a push in the queue of its server.
  void CheckQueues() {
    std::map<BucketStep, Rows> pushes;
    for (const Row& row : run_.chunks.rows) {
      const bool push = row.chunk.server >= 0 && row.chunk.action == ChunkAction::kReceive;
      if (push) pushes[PlaceOf(row)].push_back(&row);
    }
    for (auto& [place, rows] : pushes) {
      const auto found = queues_.find(place);
      // The trace may lack spans.
      if (found == queues_.end() || found->second.size() != rows.size()) continue;
      std::ranges::stable_sort(rows, {}, [](const Row* row) { return row->chunk.begin; });
      std::ranges::sort(found->second);
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const TraceChunk& chunk = rows[i]->chunk;
        const Interval& queue = found->second[i];
        // The shard takes the push right after the end of the queue.
        if (std::abs(chunk.begin - queue.begin) <= kRecordRounding &&
            chunk.end >= queue.end - facts_.ExactnessOf(chunk)) {
          continue;
        }
        problems_.Add(
            fmt::format("{}: it is at {} to {} ns, and its 'queue' in the trace at {} to {} ns",
                        RowName(*rows[i]), chunk.begin, chunk.end, queue.begin, queue.end));
      }
    }
  }

  void CheckUpdates() {
    for (const Row& row : run_.chunks.rows) {
      const TraceChunk& chunk = row.chunk;
      if (chunk.server < 0 || chunk.action != ChunkAction::kUpdate) continue;
      const auto found = server_applies_.find(PlaceOf(row));
      if (found == server_applies_.end()) continue;
      const bool around = std::ranges::any_of(found->second, [&](const Interval& apply) {
        return chunk.begin <= apply.begin + kRecordRounding &&
               chunk.end >= apply.begin - facts_.ExactnessOf(chunk) &&
               chunk.end <= apply.end + facts_.ExactnessOf(chunk);
      });
      if (!around) {
        problems_.Add(fmt::format("{}: it is at {} to {} ns, and the trace has no such 'apply'",
                                  RowName(row), chunk.begin, chunk.end));
      }
    }
  }

  const RecordedRun& run_;
  const RecordFacts& facts_;
  RecordProblems& problems_;
  std::map<BucketStep, std::vector<Interval>> wires_, applies_, queues_, server_applies_;
};

}  // namespace

void CheckOrder(const RecordedRun& run, const RecordFacts& facts, RecordProblems& problems) {
  OrderChecker(run, facts, problems).Check();
}

}  // namespace ringside

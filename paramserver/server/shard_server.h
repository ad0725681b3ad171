#ifndef RINGSIDE_PARAMSERVER_SERVER_SHARD_SERVER_H_
#define RINGSIDE_PARAMSERVER_SERVER_SHARD_SERVER_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "ringside/common/base/deadline.h"
#include "ringside/common/codec/codec.h"
#include "ringside/common/measure/activity.h"
#include "ringside/common/measure/timeline.h"
#include "ringside/common/optim/optimizer.h"
#include "ringside/paramserver/server/consistency.h"
#include "ringside/paramserver/server/pending_reply.h"
#include "ringside/paramserver/server/shard.h"
#include "ringside/paramserver/server/slice_events.h"
#include "ringside/paramserver/wire/payload_pool.h"
#include "ringside/paramserver/wire/refusal.h"
#include "ringside/paramserver/wire/server_plan.h"

namespace ringside {

struct ShardCounters {
  std::uint64_t bytes_received = 0;  ///< Bytes of gradients.
  std::uint64_t bytes_sent = 0;      ///< Bytes of parameters, since training began.
  // Of buckets. A bucket is counted at its first slice.
  std::map<std::int64_t, std::int64_t> staleness;  ///< Number of used gradients by staleness.
  std::int64_t updates = 0;
  std::int64_t dropped = 0;  ///< Pushes that came too late.
  int waiting = 0;           ///< Pushes that wait for their answer.
  CopyCount copies;          ///< Payload bytes that the server's code has copied or summed.

  ShardCounters& operator+=(const ShardCounters& other);
};

/// A shard, its consistency, and the pushes that wait for their answer. Thread-safe. Replies are
/// answered outside the lock. `Push` borrows a reply until it is answered or withdrawn.
///
/// The last push of each worker is kept. When the worker sends it again because its connection was
/// lost, the gradient is not used twice: only the answer is given again.
class ShardServer {
 public:
  /// Without an optimizer it only sums, as `Shard` does. `server` is the number of the server that
  /// has the shard, for the timeline.
  ShardServer(const PlanInfo::ServedSlice& slice, int workers,
              const std::optional<OptimizerOptions>& optimizer,
              std::unique_ptr<Consistency> consistency, Timeline& timeline,
              const CodecOptions& codec = {}, int server = 0);

  std::size_t elements() const { return elements_; }
  /// The bytes of a gradient on the wire, unless they vary (`EncodingParts`).
  std::size_t push_bytes() const { return push_bytes_; }
  int state_per_parameter() const { return state_per_parameter_; }

  /// Starts the job at this step. Part 0 must be loaded before the first push or pull.
  void Start(std::int64_t step);
  /// Throws `RefusedError` after the first push.
  void Load(int part, const Payload& values);
  ParameterRef ReadState(int part);
  /// `barriers` is the number of barriers that all workers have reached (`Consistency::OnBarrier`).
  ParameterReply Pull(std::int64_t barriers = 0);
  /// See `Consistency::OnRetire`.
  void Retire(int worker, std::int64_t barrier);

  /// If `push.repeats` is not 0 and the shard has had this push, `reply` takes the place of the
  /// earlier reply, and `gradient` is not looked at. A repeat that has come before, or that comes
  /// after a later one, is refused.
  ///
  /// Throws `RefusedError` and changes nothing. After any other exception the shard is broken: it
  /// refuses all pushes and reads, and the caller must refuse the waiting pushes. In both cases
  /// `reply` is not changed and not kept. `gradient` is already checked: it has `elements()`
  /// floats, or their encoding in one piece.
  void Push(const PushInfo& push, PayloadPtr gradient, PendingReply& reply,
            const Deadline& deadline);
  /// The connection of a push is lost. Returns true if the push was waiting. Then the shard forgets
  /// `reply`, and the caller must end it. The gradient stays in use. The worker counts as gone from
  /// `gone_at` on; absent: never, because somebody else decides that.
  bool CancelPush(PendingReply& reply, const std::optional<Deadline>& gone_at);
  /// How much more time a worker has that has connected again.
  static constexpr std::chrono::seconds kBackGrace{3};
  /// The worker has connected. A push that waited over an earlier connection keeps its worker from
  /// counting as gone for `kBackGrace`, also if the loss of that connection is noticed only later.
  void OnWorkerConnected(int worker, Deadline::Clock::time_point now);
  /// The worker is sending pushes again. It does not count as gone until then.
  void OnWorkerBack(int worker, const Deadline& until);
  /// Whether this push is the last one of its worker, sent again.
  bool HasHad(const PushInfo& push) const;
  /// See `Consistency::OnDrop`. A push of this worker that waits is refused with `refusal`. After
  /// an exception the shard is broken, as after one of `Push`.
  void Drop(int worker, const Refusal& refusal);
  /// The refusal for a push past its deadline: it names the workers that the push waits for, or the
  /// worker that has gone.
  std::optional<Refusal> Expired(Deadline::Clock::time_point now);
  /// Refuses all waiting pushes, and every later push and read.
  void RefuseAll(const Refusal& refusal);

  ShardCounters counters() const;
  /// Of the pushes that wait for another worker, the one that has waited longest.
  std::optional<ActivityBoard::Entry> LongestWait() const;

 private:
  /// The last push of a worker.
  struct LastPush {
    bool waits() const { return reply != nullptr; }

    PendingReply* reply = nullptr;  // null: answered, or its connection is lost
    bool due = true;                // the consistency has not let it be answered yet
    Deadline deadline;
    PushInfo push;
    Timeline::Clock::time_point arrived{};
    Deadline::Clock::time_point replied_by{};  // when `reply` took its place
    std::int64_t staleness = 0;
    bool dropped = false;
    std::optional<Deadline> gone_at{};  // its connection is lost: then its worker counts as gone
  };

  void RequireUsable() const;
  void RequireNoneWaiting(int worker) const;
  /// Returns the answers that are due now.
  AnswerQueue TakeNew(const PushInfo& push, PayloadPtr gradient, PendingReply& reply,
                      const Deadline& deadline, Timeline::Clock::time_point arrived);
  bool IsRepeated(const PushInfo& push) const;
  static void Extend(LastPush& last, const Deadline& until);
  /// Returns the answer, if it is due. `replaced` becomes the reply that waited before, if any.
  AnswerQueue TakeAgain(const PushInfo& push, PendingReply& reply, PendingReply*& replaced);
  void Use(LastPush& last, const PushDecision& verdict, PayloadPtr gradient);
  void Break(int worker);
  /// `last`: the worker whose push completed the update; -1: none did.
  void Apply(const Update& update, float scale, std::int64_t step, int last);
  AnswerQueue TakeAnswers(std::span<const int> workers);
  void AddAnswer(LastPush& last, const ParameterRef& parameters, AnswerQueue& answers);
  /// The push whose worker counts as gone first; null if none will.
  const LastPush* FirstGone() const;
  /// Null before the worker's first push.
  LastPush* LastOf(int worker);
  const LastPush* LastOf(int worker) const;

  const int bucket_;
  const bool leads_;  // updates, staleness and dropped pushes are counted for buckets, not slices
  const std::size_t elements_;
  const std::size_t push_bytes_;   // of a gradient on the wire
  const std::size_t reply_bytes_;  // of the parameters that answer a push
  Timeline& timeline_;
  const SliceEvents events_;
  int state_per_parameter_ = 0;

  mutable std::mutex mutex_;  // guards everything below
  Shard shard_;
  std::unique_ptr<Consistency> consistency_;
  bool loaded_ = false;
  bool pushed_ = false;
  bool broken_ = false;                        // an update has failed half-way
  std::optional<Refusal> refused_with_;        // since `RefuseAll`
  std::vector<std::optional<LastPush>> last_;  // by worker
  std::vector<std::optional<Deadline::Clock::time_point>> connected_;  // last, by worker
  std::vector<int> contributors_;                                      // workers in the open update
  ShardCounters counters_;
};

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_SERVER_SHARD_SERVER_H_

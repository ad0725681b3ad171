#ifndef RINGSIDE_PARAMSERVER_SERVED_SHARD_H_
#define RINGSIDE_PARAMSERVER_SERVED_SHARD_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "common/codec/codec.h"
#include "common/deadline.h"
#include "common/measure/timeline.h"
#include "common/optim/optimizer.h"
#include "paramserver/consistency.h"
#include "paramserver/payload.h"
#include "paramserver/refusal.h"
#include "paramserver/shard.h"

namespace ringside {

/// Parameters for one worker.
struct Answer {
  ParameterRef parameters;
  std::int64_t version = 0;
  std::int64_t staleness = 0;  ///< Updates between the worker's parameters and its gradient's.
  bool dropped = false;        ///< The gradient came too late to be used.
};

/// A push that has come and is to be answered, now or later, exactly once. Either call may be the
/// last that the object sees; neither throws or blocks.
class PendingReply {
 public:
  virtual ~PendingReply() = default;
  virtual void Send(Answer answer) = 0;
  virtual void Refuse(const Refusal& refusal) = 0;
};

struct ShardCounters {
  std::uint64_t bytes_received = 0;                ///< Of gradients.
  std::uint64_t bytes_sent = 0;                    ///< Of parameters, once training has begun.
  std::map<std::int64_t, std::int64_t> staleness;  ///< Of the gradients that were used.
  std::int64_t updates = 0;
  std::int64_t dropped = 0;  ///< Pushes that came too late.
  int waiting = 0;           ///< Pushes that wait for their answer.
  CopyCount copies;          ///< Payload bytes that the server's code has moved.

  ShardCounters& operator+=(const ShardCounters& other);
};

/// A shard, the consistency that drives it, and the pushes that wait for their answer. Thread-safe;
/// replies are answered outside its lock. The replies are borrowed from `Push` until answered or
/// withdrawn.
class ServedShard {
 public:
  ServedShard(int bucket, std::size_t elements, int workers, const OptimizerOptions& optimizer,
              std::unique_ptr<Consistency> consistency, Timeline& timeline,
              const CodecOptions& codec = {});

  std::size_t elements() const { return elements_; }
  int state_per_parameter() const { return state_per_parameter_; }

  /// The job begins at this step. Part 0 has to be loaded before pushes and pulls are served.
  void Start(std::int64_t step);
  /// Throws `RefusedError` once pushes have begun.
  void Load(int part, const Payload& values);
  ParameterRef ReadState(int part);
  /// All workers have met that often (`Consistency::OnMeeting`).
  Answer Pull(std::int64_t meeting = 0);
  /// `Consistency::OnRetire`.
  void Retire(int worker, std::int64_t meeting);

  /// Throws `RefusedError` with nothing changed. On any other exception the shard is broken: it
  /// refuses pushes and reads from then on, and the caller must refuse those that wait. Either way
  /// `reply` is untouched and not kept. `gradient` has been checked to have `elements()` floats, or
  /// their encoding in one piece.
  void Push(const PushInfo& push, std::unique_ptr<const Payload> gradient, PendingReply& reply,
            const Deadline& deadline);
  /// The worker has left while its push waited. True: `reply` is forgotten, the caller must end it.
  /// The worker counts as gone from `gone_at` on.
  bool Withdraw(PendingReply& reply, const Deadline& gone_at);
  /// When a push has waited past its deadline: whom it waits for. When a worker is gone: who.
  std::optional<Refusal> Expired(Deadline::Clock::time_point now);
  /// Refuses all that wait.
  void RefuseWaiting(const Refusal& refusal);

  ShardCounters counters() const;

 private:
  struct Waiting {
    PendingReply* reply = nullptr;
    Deadline deadline;
    PushInfo push;
    std::int64_t staleness = 0;
    bool dropped = false;
  };
  struct Answered {
    PendingReply* reply;
    Answer answer;
  };

  void RequireUsable() const;
  void RequireNoneWaiting(int worker) const;
  void Use(const PushInfo& push, const Verdict& verdict, std::unique_ptr<const Payload> gradient);
  void Break(int worker);
  void Apply(const Verdict& verdict, std::int64_t step);
  std::vector<Answered> TakeAnswers(const std::vector<int>& workers);

  const int bucket_;
  const std::size_t elements_;
  const std::size_t push_bytes_;   // of a gradient on the wire
  const std::size_t reply_bytes_;  // of the parameters that answer a push
  Timeline& timeline_;
  int state_per_parameter_ = 0;

  mutable std::mutex mutex_;  // guards everything below
  Shard shard_;
  std::unique_ptr<Consistency> consistency_;
  bool loaded_ = false;
  bool pushed_ = false;
  bool broken_ = false;                          // an update has failed half-way
  std::vector<std::optional<Waiting>> waiting_;  // by worker
  std::vector<int> contributors_;                // workers in the open update
  std::optional<Waiting> withdrawn_;             // by the first worker that left
  ShardCounters counters_;
};

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_SERVED_SHARD_H_

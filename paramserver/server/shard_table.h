#ifndef RINGSIDE_PARAMSERVER_SERVER_SHARD_TABLE_H_
#define RINGSIDE_PARAMSERVER_SERVER_SHARD_TABLE_H_

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "ringside/common/codec/codec.h"
#include "ringside/common/measure/activity.h"
#include "ringside/common/strategy/strategy_entry.h"
#include "ringside/paramserver/server/shard_server.h"
#include "ringside/paramserver/wire/payload_pool.h"
#include "ringside/paramserver/wire/server_plan.h"
#include "ringside/paramserver/wire/wire.h"

namespace ringside {

/// All shards of one server, and whether the job has failed. Every request is checked before
/// anything changes. Independent of the transport. Thread-safe.
///
/// Errors: methods throw `RefusedError` with the state unchanged. After `Fail` everything is
/// refused with the same refusal.
class ShardTable {
 public:
  static constexpr std::chrono::milliseconds kGoneGrace{250};

  using MakeConsistency = std::function<std::unique_ptr<Consistency>()>;

  /// What the shards do with the gradients of an update.
  enum class Work {
    kUpdate,  ///< They run the job's optimizer.
    kSum,     ///< They only sum. Workers update their parameters themselves.
  };

  /// Borrows what `context` borrows.
  ShardTable(const ServerContext& context, MakeConsistency make_consistency,
             Work work = Work::kUpdate);

  /// Worker 0 creates the shards. The plans of the others are compared with its plan.
  void Start(const PlanInfo& plan);
  /// Only worker 0 may load, before the first push.
  void Load(const FrameHeader& header, const Payload& values);
  ParameterReply Pull(const FrameHeader& header);
  ParameterRef ReadState(const FrameHeader& header);
  /// `header.step` is the barrier at which the retirement ends (`Consistency::OnRetire`).
  void Retire(const FrameHeader& header);
  /// `reply` is answered now or later, unless this throws. An exception other than `RefusedError`
  /// is a failure of this server and of the job.
  void Push(const FrameHeader& header, PayloadPtr gradient, PendingReply& reply);

  /// Throws `RefusedError` if the request has another length than its kind and its slice ask for.
  /// So a transport can refuse it before it takes memory for the payload.
  void CheckLength(const FrameHeader& header) const;

  /// The most calls that a correct worker can have under way: one for each slice, another one whose
  /// answer it has while this server still ends the call, and some for the start. A transport takes
  /// no more of them.
  std::size_t most_calls_of_a_worker() const;
  /// The same for all workers together.
  std::size_t most_calls() const;

  /// The call of `reply`, from this worker for this slice, was cancelled or its connection was
  /// lost. Returns true when `reply` was waiting; then the caller must end it. The job fails and
  /// names the worker, but only after `kGoneGrace`: a worker may leave because *its* peer has
  /// failed. The others get this time to find the real cause. With
  /// `ServerContext::drops_lost_workers` the job does not fail: `Drop` will follow if the worker is
  /// lost.
  bool OnCallCancelled(const FrameHeader& header, PendingReply& reply);
  /// This worker, one of the job, has connected. If that is not for the first time, it has
  /// `ShardServer::kBackGrace` to send again what its lost connection has not answered.
  void OnWorkerConnected(std::uint32_t worker);
  /// The job goes on without this worker (`Server::DropWorker`). All its later calls are refused.
  void Drop(int worker);
  /// Fails the job when a push has waited past its deadline or a worker has gone. Called at regular
  /// intervals.
  void FailExpired(Deadline::Clock::time_point now);
  /// Fails the job and refuses all waiting pushes. Only the first refusal counts.
  void Fail(const Refusal& refusal);

  ShardCounters counters() const;
  /// The wait of the push that has waited longest.
  ActivityBoard::Entry Doing() const;

 private:
  /// It sends its pushes again, one after the other.
  void OnWorkerBack(std::uint32_t worker);
  void CheckWorld(const PlanInfo& plan) const;
  void Create(const PlanInfo& plan);
  ShardServer& Find(const FrameHeader& header) const;
  void CheckInWorld(std::uint32_t worker) const;
  /// Whether this worker may call. Needs the lock.
  void CheckWorker(std::uint32_t worker) const;
  void CheckPushBytes(std::uint64_t bytes, const ShardServer& shard) const;
  /// Runs `action` of a shard. An exception other than `RefusedError` becomes a failure of this
  /// server and of the job.
  template <typename Action>
  void GuardShard(const Action& action);
  void CheckAlive() const;
  /// The shards: none until `Start` has made them. Then they never change.
  std::span<ShardServer* const> All() const;

  const ServerContext context_;
  const MakeConsistency make_consistency_;
  const Work work_;
  const std::unique_ptr<const Codec> codec_;  // of gradients; null: fp32
  const std::shared_ptr<PayloadPool<JoinedPayload>> encodings_ = PayloadPool<JoinedPayload>::Make();
  std::atomic<std::size_t> slices_ = 0;
  mutable std::mutex mutex_;  // guards everything below; shards are only ever added, by Start
  std::optional<PlanInfo> plan_;
  std::map<std::uint32_t, std::unique_ptr<ShardServer>> shards_;
  std::vector<ShardServer*> all_;    // those of shards_; set once
  std::set<std::uint32_t> dropped_;  // workers
  std::optional<Refusal> failure_;
};

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_SERVER_SHARD_TABLE_H_

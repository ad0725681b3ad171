#ifndef RINGSIDE_PARAMSERVER_SHARD_TABLE_H_
#define RINGSIDE_PARAMSERVER_SHARD_TABLE_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "common/codec/codec.h"
#include "common/strategy_entry.h"
#include "paramserver/served_shard.h"
#include "paramserver/wire.h"

namespace ringside {

/// What a worker tells a server when it joins.
struct PlanInfo {
  struct ServedBucket {
    std::uint32_t index = 0;
    std::uint64_t elements = 0;
  };

  std::uint32_t worker = 0;
  std::uint32_t workers = 0;
  std::uint32_t server = 0;
  std::uint32_t servers = 0;
  std::uint64_t fingerprint = 0;      ///< `BucketPlan::Fingerprint` of the whole plan.
  std::int64_t step = 0;              ///< First step of the job.
  std::vector<ServedBucket> buckets;  ///< This server's; from worker 0 alone.
};

/// All shards of one server, and whether the job has failed. Checks every request before it changes
/// anything; knows no transport. Thread-safe.
///
/// Errors: methods throw `RefusedError` with the state unchanged. After `Fail` everything is
/// refused with the same refusal.
class ShardTable {
 public:
  static constexpr std::chrono::milliseconds kGoneGrace{250};

  using MakeConsistency = std::function<std::unique_ptr<Consistency>()>;

  /// Borrows what `context` borrows.
  ShardTable(const ServerContext& context, MakeConsistency make_consistency);

  /// Worker 0 creates the shards; the others are checked against its plan.
  void Start(const PlanInfo& plan);
  /// From worker 0 alone, before the first push.
  void Load(const FrameHeader& header, const Payload& values);
  Answer Pull(const FrameHeader& header);
  ParameterRef ReadState(const FrameHeader& header);
  /// `header.step`: until which meeting (`Consistency::OnRetire`).
  void Retire(const FrameHeader& header);
  /// `reply` is answered now or later, unless this throws. What is no `RefusedError` is a failure
  /// of this server, and of the job.
  void Push(const FrameHeader& header, std::unique_ptr<const Payload> gradient,
            PendingReply& reply);

  /// The call behind `reply`, from this worker for this bucket, has been cancelled or its
  /// connection lost. True: `reply` was waiting and the caller must end it. The job fails, naming
  /// the worker, but not at once: a worker that leaves because *its* peer has failed must not be
  /// blamed for it, so the others get `kGoneGrace` to meet the cause themselves.
  bool Abandon(const FrameHeader& header, PendingReply& reply);
  /// Fails the job when a push has waited past its deadline or a worker is gone. Called every so
  /// often.
  void FailExpired(Deadline::Clock::time_point now);
  /// The first refusal counts. Refuses all that wait.
  void Fail(const Refusal& refusal);

  ShardCounters counters() const;

 private:
  void CheckWorld(const PlanInfo& plan) const;
  void Create(const PlanInfo& plan);
  ServedShard& Find(const FrameHeader& header) const;
  void CheckWorker(std::uint32_t worker) const;
  void CheckAlive() const;

  const ServerContext context_;
  const MakeConsistency make_consistency_;
  const std::unique_ptr<const Codec> codec_;  // of gradients; null: fp32
  mutable std::mutex mutex_;  // guards everything below; shards are only ever added, by Start
  std::optional<PlanInfo> plan_;
  std::map<std::uint32_t, std::unique_ptr<ServedShard>> shards_;
  std::optional<Refusal> failure_;
};

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_SHARD_TABLE_H_

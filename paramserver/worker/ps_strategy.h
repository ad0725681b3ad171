#ifndef RINGSIDE_PARAMSERVER_WORKER_PS_STRATEGY_H_
#define RINGSIDE_PARAMSERVER_WORKER_PS_STRATEGY_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ringside/common/core/failure_latch.h"
#include "ringside/common/strategy/call_checks.h"
#include "ringside/common/strategy/strategy_entry.h"
#include "ringside/paramserver/slicing/slice_plan.h"
#include "ringside/paramserver/slicing/slice_sizes.h"
#include "ringside/paramserver/transports/transport_table.h"
#include "ringside/paramserver/worker/transfers.h"
#include "ringside/paramserver/worker/worker_codec.h"

namespace ringside {

struct PsStrategyOptions {
  bool whole_buckets = false;    ///< `ConsistencyEntry::whole_buckets`.
  bool answers_at_once = false;  ///< `ConsistencyEntry::answers_at_once`.
  int awaited_pushes = 1;        ///< `ConsistencyEntry::awaited_pushes`.
  bool servers_update = true;  ///< False: servers only sum, and this worker updates its parameters.
};

/// The strategy of a worker with parameter servers, for every consistency. `Submit` queues one
/// push-pull call for each slice of the bucket; the thread of `Transfers` makes the calls. `Await`
/// waits for the replies, which from synchronous servers are the barrier. `SlicePlan` cuts the
/// buckets and distributes the slices over the servers.
///
/// If servers only sum, replies are sums of gradients. Then `Await` updates the bucket with the
/// worker's own optimizer, as a ring does, and optimizer state is the worker's.
///
/// Store keys: "ps/<server>" (read), "exchange/ps/...". Thread safety and errors as in `Strategy`.
/// An error names the worker that a server waits for, or otherwise the server.
class PsStrategy : public Strategy {
 public:
  PsStrategy(const StrategyContext& context, TransportTable transports,
             PsStrategyOptions options = {})
      : context_(context), transports_(std::move(transports)), options_(options) {}

  /// Throws `ConfigError` when a slice does not fit into a message (2 GiB).
  void Start(FlatSpace& space, const BucketPlan& plan, const StartPoint& from) override;
  void Submit(const Bucket& bucket) override;
  void Await(const Bucket& bucket) override;
  /// Waits until all workers have called it, so that all pull the same parameters. Asynchronous
  /// workers may be far apart, so the limit is `CommOptions::barrier_timeout`.
  void Settle() override;
  void ReadOptimizerState(std::span<float> out) override;
  std::vector<StateVector> State() override;
  /// Waits for the other workers, because a server may run inside one of them.
  void Stop() override;

  /// Payload bytes that the worker's code has copied so far.
  CopyCount copies() const { return transfers_ ? transfers_->copies() : CopyCount{}; }

 private:
  void AgreeOnPlan(const StartPoint& from);
  /// The addresses by server. Waits until each server has published its address.
  std::vector<ServerAddress> ServerAddresses(const Deadline& deadline);
  void CutSlices(const std::vector<ServerAddress>& addresses);
  void RecordSlices(std::size_t slice_limit_bytes) const;
  void CheckSizes() const;
  void MakeCodec();
  /// The server that this worker begins with. Those of all workers are spread over the servers.
  int FirstServer() const {
    return context_.world.rank * context_.world.servers / context_.world.workers;
  }
  void Connect(const std::vector<ServerAddress>& addresses);
  void StartServers(std::int64_t step);
  void LoadServers(const StartPoint& from);
  void PullAll(bool counted);
  /// Called before a barrier. Until the barrier no worker waits for pushes of this worker.
  void Retire();
  /// Begins `make(slice)` for every slice, then awaits all.
  void ForEachSlice(const std::function<Transfer(int slice)>& make);
  /// Begins `make(slice)` for every slice of this bucket.
  template <typename Make>
  void BeginBucket(int bucket, const Make& make);
  Transfer MakeTransfer(FrameKind kind, int slice) const;
  Transfer PushOf(int slice, const Bucket& bucket) const;
  /// Waits for the replies to a bucket, and updates it if servers only sum.
  void Finish(int bucket);
  /// Waits until all workers that the job has not lost have reached barrier `name`, at most for
  /// `patience`.
  void Barrier(const std::string& name, std::chrono::milliseconds patience);

  const StrategyContext context_;
  const TransportTable transports_;
  const PsStrategyOptions options_;
  FailureLatch failure_;
  CallChecks calls_;
  FlatSpace* space_ = nullptr;
  const BucketPlan* plan_ = nullptr;
  std::int64_t first_step_ = 0;
  ExchangeSeries barriers_{context_.store, context_.world};
  std::int64_t settled_ = 0;  // barriers of `Settle` so far; all servers know of them
  SlicePlan slices_;
  std::vector<SendLimits> limits_;           // by server
  std::vector<std::optional<Bucket>> open_;  // submitted and not updated; empty if servers update
  std::vector<Transfer> transfer_scratch_;   // those of one bucket, while they begin
  std::unique_ptr<WorkerCodec>
      codec_;  // null: fp32; the transfers read from it, so it lives longer
  std::unique_ptr<Transfers> transfers_;
};

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_WORKER_PS_STRATEGY_H_

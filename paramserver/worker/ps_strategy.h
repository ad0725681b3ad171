#ifndef RINGSIDE_PARAMSERVER_WORKER_PS_STRATEGY_H_
#define RINGSIDE_PARAMSERVER_WORKER_PS_STRATEGY_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ringside/common/core/failure_latch.h"
#include "ringside/common/strategy/call_checks.h"
#include "ringside/common/strategy/strategy_entry.h"
#include "ringside/paramserver/transports/transport_table.h"
#include "ringside/paramserver/wire/wire_codec.h"
#include "ringside/paramserver/worker/transfers.h"

namespace ringside {

/// The strategy of a worker with parameter servers, for every consistency. `Submit` queues one
/// push-pull call to the bucket's server; the thread of `Transfers` makes the call. `Await` waits
/// for the reply, which from a synchronous server is the barrier. `AssignToServers` distributes the
/// buckets over the servers.
///
/// Store keys: "ps/<server>" (read), "exchange/ps/...". Thread safety and errors as in `Strategy`.
/// An error names the worker that a server waits for, or otherwise the server.
class PsStrategy : public Strategy {
 public:
  PsStrategy(const StrategyContext& context, TransportTable transports)
      : context_(context), transports_(std::move(transports)) {}

  /// Throws `ConfigError` when a bucket does not fit into a message (2 GiB).
  void Start(FlatSpace& space, const BucketPlan& plan, const StartPoint& from) override;
  void Submit(const Bucket& bucket) override;
  void Await(const Bucket& bucket) override;
  /// Waits until all workers have called it, so that all pull the same parameters. Asynchronous
  /// workers may be far apart, so the limit is `CommOptions::barrier_timeout`.
  void Settle() override;
  void ReadOptimizerState(std::span<float> out) override;
  /// Waits for the other workers, because a server may run inside one of them.
  void Stop() override;

  /// Payload bytes that the worker's code has copied so far.
  CopyCount copies() const { return transfers_ ? transfers_->copies() : CopyCount{}; }

 private:
  void CheckSizes() const;
  void MakeCodec();
  void AgreeOnPlan(const StartPoint& from);
  /// The addresses by server. Waits until each server has published its address.
  std::vector<ServerAddress> ServerAddresses(const Deadline& deadline);
  void Connect();
  void StartServers(std::int64_t step);
  void LoadServers(const StartPoint& from);
  void PullAll(bool counted);
  /// Called before a barrier. Until the barrier no worker waits for pushes of this worker.
  void Retire();
  /// Begins `make(bucket)` for every bucket, then awaits all.
  void ForEachBucket(const std::function<Transfer(int bucket)>& make);
  Transfer MakeTransfer(FrameKind kind, int bucket) const;
  Transfer PushOf(const Bucket& bucket) const;
  /// Waits until all workers have reached barrier `name`, at most for `patience`.
  void Barrier(const std::string& name, std::chrono::milliseconds patience);

  const StrategyContext context_;
  const TransportTable transports_;
  FailureLatch failure_;
  CallChecks calls_;
  FlatSpace* space_ = nullptr;
  const BucketPlan* plan_ = nullptr;
  std::int64_t first_step_ = 0;
  std::int64_t barriers_ = 0;         // barriers so far that all servers know of
  std::vector<int> server_of_;        // by bucket
  std::unique_ptr<WireCodec> codec_;  // null: fp32; the transfers read from it, so it lives longer
  std::unique_ptr<Transfers> transfers_;
};

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_WORKER_PS_STRATEGY_H_

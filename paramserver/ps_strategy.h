#ifndef RINGSIDE_PARAMSERVER_PS_STRATEGY_H_
#define RINGSIDE_PARAMSERVER_PS_STRATEGY_H_

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/strategy_entry.h"
#include "paramserver/failure_latch.h"
#include "paramserver/server_address.h"
#include "paramserver/transfers.h"
#include "paramserver/wire_codec.h"

namespace ringside {

/// The worker's side of a parameter server, of every consistency: `Submit` begins one push-pull
/// call to the bucket's server and `Await` waits for its reply, which is the barrier (or, from an
/// asynchronous server, none). Buckets are spread over servers by `AssignToServers`.
///
/// Store keys: "ps/<server>" (read), "exchange/ps/...". Thread safety and errors as of `Strategy`;
/// a failure names the worker that a server misses, else the server.
class PsStrategy : public Strategy {
 public:
  explicit PsStrategy(const StrategyContext& context) : context_(context) {}

  /// Throws `ConfigError` when a bucket does not fit into a message (2 GiB).
  void Start(FlatSpace& space, const BucketPlan& plan, const StartPoint& from) override;
  void Submit(const Bucket& bucket) override;
  void Await(const Bucket& bucket) override;
  /// Waits until all workers have come here (asynchronous ones may be far apart, hence
  /// `CommOptions::meeting_timeout`), so that all pull the same parameters.
  void Settle() override;
  void ReadOptimizerState(std::span<float> out) override;
  /// Waits for the other workers: a server may run inside one of them.
  void Stop() override;

  /// Payload bytes that the worker's code has moved so far.
  CopyCount copies() const { return transfers_ ? transfers_->copies() : CopyCount{}; }

 private:
  void Guarded(const std::function<void()>& body);
  void CheckSizes() const;
  void MakeCodec();
  void AgreeOnPlan(std::int64_t step);
  /// By server; waits for each to publish its own.
  std::vector<ServerAddress> ServerAddresses(const Deadline& deadline);
  void Connect();
  void StartServers(std::int64_t step);
  void LoadServers(const StartPoint& from);
  void PullAll(bool counted);
  /// Before a meeting: nobody waits for pushes of this worker until then.
  void Retire();
  /// Begins `make(bucket)` for every bucket, then awaits all.
  void ForEachBucket(const std::function<Transfer(int bucket)>& make);
  Transfer MakeTransfer(FrameKind kind, int bucket) const;
  /// Waits until all workers have come to `name`.
  void Meet(const std::string& name, std::chrono::milliseconds patience);

  const StrategyContext context_;
  FailureLatch failure_;
  FlatSpace* space_ = nullptr;
  const BucketPlan* plan_ = nullptr;
  std::int64_t first_step_ = 0;
  std::int64_t meetings_ = 0;         // that all servers have been told of: settles
  std::vector<int> server_of_;        // by bucket
  std::unique_ptr<WireCodec> codec_;  // null: fp32; outlives the transfers, which read from it
  std::unique_ptr<Transfers> transfers_;
};

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_PS_STRATEGY_H_

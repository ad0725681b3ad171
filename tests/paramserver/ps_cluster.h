#ifndef RINGSIDE_TESTS_PARAMSERVER_PS_CLUSTER_H_
#define RINGSIDE_TESTS_PARAMSERVER_PS_CLUSTER_H_

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ringside/common/core/bucket.h"
#include "ringside/common/strategy/strategy_entry.h"
#include "ringside/paramserver/transports/core/server_address.h"
#include "tests/common/slow_store.h"
#include "tests/common/thread_ranks.h"
#include "tests/paramserver/ps_entries.h"

namespace ringside {

/// A worker of a test, with everything that it needs.
struct TestWorker {
  TestWorker(const World& own_world, const BucketPlan& own_plan, const OptimizerOptions& options)
      : world(own_world),
        plan(own_plan),
        space(own_plan.elements()),
        optimizer(Optimizer::Make(options, own_plan.elements())) {}

  World world;
  BucketPlan plan;
  FlatSpace space;
  std::unique_ptr<Optimizer> optimizer;
  Recorder recorder{16};
  Timeline timeline{TimelineCapacity{.spans = 4096, .chunks = 4096}};
  std::unique_ptr<Strategy> strategy;

  void Submit(int bucket, std::int64_t step) {
    strategy->Submit(MakeBucket(space, plan, bucket, step));
  }
  void Await(int bucket, std::int64_t step) {
    strategy->Await(MakeBucket(space, plan, bucket, step));
  }
  /// Does one step with the gradients in the space; submits them in backward order.
  void Step(std::int64_t step) {
    for (int bucket = 0; bucket < plan.buckets(); ++bucket) Submit(bucket, step);
    for (int bucket = 0; bucket < plan.buckets(); ++bucket) Await(bucket, step);
  }
  void FillGradients(float value) { std::ranges::fill(space.grads(), value); }
};

struct ClusterOptions {
  const StrategyEntry* entry = &kPsSyncEntry;
  int workers = 2;
  int servers = 1;
  int colocated = 0;  ///< How many of the servers workers count as co-located.
  std::size_t elements = 1000;
  /// The target size of a bucket.
  std::size_t target_bytes = 1024;
  OptimizerOptions optimizer{};
  ScheduleOptions schedule{.base = 1.0};
  std::chrono::milliseconds timeout{10'000};
  StrategyOptions strategy{};
  std::string tls{};  ///< As in `CommOptions`.
};

/// Servers and workers as threads of one process, over loopback.
class PsCluster {
 public:
  explicit PsCluster(const ClusterOptions& options)
      : options_(options), schedule_(options.schedule) {
    comm_.token = "the token of this job";
    comm_.tls = options.tls;
    comm_.timeout = options.timeout;
    comm_.start_timeout = options.timeout;
    for (int server = 0; server < options.servers; ++server) {
      servers_.push_back(options.entry->make_server({.index = server,
                                                     .servers = options.servers,
                                                     .workers = options.workers,
                                                     .store = store_,
                                                     .comm = comm_,
                                                     .optimizer = options_.optimizer,
                                                     .schedule = schedule_,
                                                     .timeline = timeline_,
                                                     .options = options_.strategy}));
    }
  }

  /// Runs `body` on every worker, whose strategy is made but not started.
  RankOutcomes TryRun(const std::function<void(TestWorker&)>& body) {
    return TryRanks(options_.workers, [&](int rank) {
      const std::unique_ptr<TestWorker> worker = MakeWorker(rank);
      body(*worker);
    });
  }
  /// Same, but starts and stops the strategy around `body`; rethrows the first exception.
  void Run(const std::function<void(TestWorker&)>& body) {
    const RankOutcomes outcomes = TryRun([&](TestWorker& worker) {
      worker.strategy->Start(worker.space, worker.plan, {});
      body(worker);
      worker.strategy->Stop();
    });
    if (outcomes.first != nullptr) std::rethrow_exception(outcomes.first);
  }

  std::unique_ptr<TestWorker> MakeWorker(int rank) {
    const std::vector<TensorSpec> tensors{{"all", options_.elements}};
    const BucketPlan plan(tensors, {options_.target_bytes, options_.target_bytes});
    auto worker = std::make_unique<TestWorker>(TestWorld(rank, options_.workers, options_.servers),
                                               plan, options_.optimizer);
    worker->world.colocated_servers = options_.colocated;
    worker->strategy = options_.entry->make({.world = worker->world,
                                             .store = store_,
                                             .comm = comm_,
                                             .optimizer = *worker->optimizer,
                                             .schedule = schedule_,
                                             .recorder = worker->recorder,
                                             .timeline = worker->timeline,
                                             .options = options_.strategy});
    return worker;
  }

  Server& server(int index) { return *servers_[static_cast<std::size_t>(index)]; }
  std::string endpoint(int index) {
    const Deadline deadline = Deadline::After(comm_.timeout);
    const std::string text = store_.Get("ps/" + std::to_string(index), deadline);
    return TransportTable().ParseAddress(text).address;
  }
  SlowStore& store() { return store_; }
  CommOptions& comm() { return comm_; }
  const ClusterOptions& options() const { return options_; }

 private:
  const ClusterOptions options_;
  const Schedule schedule_;
  CommOptions comm_;
  SlowStore store_;
  Timeline timeline_{TimelineCapacity{.spans = 4096, .chunks = 4096}};
  std::vector<std::unique_ptr<Server>> servers_;
};

}  // namespace ringside

#endif  // RINGSIDE_TESTS_PARAMSERVER_PS_CLUSTER_H_

#ifndef RINGSIDE_BENCHMARKS_PUSH_PULL_JOB_H_
#define RINGSIDE_BENCHMARKS_PUSH_PULL_JOB_H_

#include <algorithm>
#include <cstdint>
#include <memory>
#include <vector>

#include "benchmarks/push_pull/settings.h"
#include "ringside/common/core/bucket.h"
#include "ringside/paramserver/worker/ps_strategy.h"

namespace ringside::push_pull {

/// One job of ps-sync over one transport, as a worker sees it.
class Job {
 public:
  Job(const Settings& settings, int rank, const std::string& transport, Store& store)
      : world_{.rank = rank, .workers = settings.workers, .servers = settings.servers},
        plan_(std::vector<TensorSpec>{{"all", settings.elements()}},
              {settings.bucket_mib << 20, settings.bucket_mib << 20}),
        space_(settings.elements()),
        optimizer_(Optimizer::Make({}, settings.elements())),
        strategy_(Context(transport, store), {}, {}) {
    std::ranges::fill(space_.grads(), 1.0F);
    strategy_.Start(space_, plan_, {});
    start_ = strategy_.copies();
  }

  void Step() {
    for (int b = 0; b < plan_.buckets(); ++b) {
      strategy_.Submit(MakeBucket(space_, plan_, b, step_));
    }
    for (int b = 0; b < plan_.buckets(); ++b) strategy_.Await(MakeBucket(space_, plan_, b, step_));
    ++step_;
  }

  void Stop() {
    moved_ = strategy_.copies().total() - start_.total();
    strategy_.Stop();
  }
  /// Payload bytes moved per payload byte received. Call after `Stop`.
  double copied() const {
    return static_cast<double>(moved_) /
           std::max(1.0, static_cast<double>(recorder_.bytes_received()));
  }

 private:
  StrategyContext Context(const std::string& transport, Store& store) {
    StrategyContext context{world_, store, comm_, *optimizer_, schedule_, recorder_, timeline_};
    context.options.Set(kPsTransport, transport);
    return context;
  }

  const World world_;
  const BucketPlan plan_;
  const CommOptions comm_{};
  const Schedule schedule_{{.base = 1.0}};
  FlatSpace space_;
  std::unique_ptr<Optimizer> optimizer_;
  Recorder recorder_{0};
  Timeline timeline_;
  PsStrategy strategy_;
  CopyCount start_;
  std::uint64_t moved_ = 0;
  std::int64_t step_ = 0;
};

}  // namespace ringside::push_pull

#endif  // RINGSIDE_BENCHMARKS_PUSH_PULL_JOB_H_

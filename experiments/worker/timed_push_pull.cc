#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "ringside/experiments/spec/bucket_sizes.h"
#include "ringside/experiments/worker/push_pull_check.h"
#include "ringside/experiments/worker/run_factories.h"
#include "ringside/experiments/worker/timed_operation.h"

namespace ringside {
namespace {

/// Cuts buckets as a training run does, but makes at least one for every server.
BucketPlan Buckets(const RunSpec& spec, std::int64_t bytes) {
  const std::int64_t share = bytes / std::max(1, spec.servers);
  const std::size_t target =
      std::min(BucketSizesOf(spec).target_bytes, static_cast<std::size_t>(share));
  const std::vector<TensorSpec> tensors{{"all", static_cast<std::size_t>(bytes) / sizeof(float)}};
  BucketPlan plan(tensors, {.target_bytes = target, .first_bytes = target});
  RefuseIdleServers(spec, plan);
  return plan;
}

/// A step of the strategy without a model: submits every bucket, then awaits every bucket.
class TimedPushPull : public TimedOperation {
 public:
  TimedPushPull(MemberProcess& process, std::int64_t bytes)
      : process_(process),
        setup_(process.setup()),
        spec_(setup_.spec),
        entry_(EntryOf(spec_)),
        plan_(Buckets(spec_, bytes)),
        comm_(MakeCommOptions(setup_, LargestMessageBytes(plan_))),
        space_(MakeSpace(entry_.traits.memory, plan_, setup_)),
        optimizer_(Optimizer::Make(spec_.optimizer, plan_.elements())),
        schedule_(MakeSchedule(spec_, 1)),
        recorder_(0),
        server_(MakeOwnServer(process, comm_, spec_.optimizer, schedule_, timeline_)),
        strategy_(MakeStrategy(entry_, {setup_.world, process.client(), comm_, *optimizer_,
                                        schedule_, recorder_, timeline_, spec_.options})) {
    FillForTiming(spec_.options.codec, space_.grads());
    strategy_->Start(space_, plan_, {});
  }

  void Barrier() override { Gather(""); }

  void Slowest(std::span<double> values) override {
    const auto mine = std::as_bytes(values);
    for (const std::string& theirs :
         Gather({reinterpret_cast<const char*>(mine.data()), mine.size()})) {
      KeepLarger(std::as_bytes(std::span(theirs)), values);
    }
  }

  void Run() override {
    PushAndPull(*strategy_, space_, plan_, step_);
    ++step_;
  }

  std::optional<std::int64_t> CountMismatches() override {
    if (!Exact()) return std::nullopt;
    std::int64_t wrong = 0;
    for (int round = 0; round < kCheckRounds; ++round) {
      Barrier();  // no push before all have compared, because some servers do not wait
      const auto count = entry_.traits.synchronous() ? CountStepMismatches : CountSettledMismatches;
      wrong += count(*strategy_, space_, plan_, setup_.world, step_, round);
      ++step_;
    }
    return wrong;
  }

  std::vector<std::string> Notes() const override { return recorder_.notes(); }

  void Stop() override {
    strategy_->Stop();
    Barrier();
  }

 private:
  std::vector<std::string> Gather(const std::string& mine) {
    return StoreAllGather(process_.client(), setup_.world,
                          fmt::format("bench/barrier/{}", barriers_++), mine,
                          Deadline::After(comm_.barrier_timeout));
  }

  /// True when plain gradient descent at rate 1 on integers is exact, in any order. It is not when
  /// values are dropped, rounded or scaled by staleness.
  bool Exact() const {
    if (spec_.options.codec.encodes()) return false;
    if (entry_.losing_nothing == nullptr) return true;
    const StrategyOptions exact = entry_.losing_nothing(spec_.options);
    return std::ranges::all_of(entry_.options, [&](const OptionDeclaration& option) {
      return exact.ValueOf(option) == spec_.options.ValueOf(option);
    });
  }

  MemberProcess& process_;
  const MemberSetup& setup_;
  const RunSpec& spec_;
  const StrategyEntry& entry_;
  const BucketPlan plan_;
  const CommOptions comm_;
  FlatSpace space_;
  std::unique_ptr<Optimizer> optimizer_;
  const Schedule schedule_;
  Recorder recorder_;
  Timeline timeline_;
  std::unique_ptr<Server> server_;  // null on a worker without one
  std::unique_ptr<Strategy> strategy_;
  std::int64_t step_ = 0;
  int barriers_ = 0;
};

}  // namespace

int LargestPushPullMessage(const RunSpec& spec, std::int64_t bytes) {
  return LargestMessageBytes(Buckets(spec, bytes));
}

std::unique_ptr<TimedOperation> MakeTimedPushPull(MemberProcess& process, std::int64_t bytes) {
  return std::make_unique<TimedPushPull>(process, bytes);
}

}  // namespace ringside

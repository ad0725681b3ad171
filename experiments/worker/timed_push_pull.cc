#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/worker/push_pull_check.h"
#include "experiments/worker/run_parts.h"
#include "experiments/worker/timed_operation.h"

namespace ringside {
namespace {

/// A step of the strategy without a model: every bucket submitted, then every bucket awaited.
class TimedPushPull : public TimedOperation {
 public:
  TimedPushPull(MemberProcess& process, std::int64_t bytes)
      : process_(process),
        setup_(process.setup()),
        spec_(setup_.spec),
        entry_(EntryOf(spec_)),
        comm_(MakeCommOptions(setup_)),
        plan_(Buckets(spec_, bytes)),
        space_(MakeSpace(entry_.memory, plan_, setup_)),
        optimizer_(Optimizer::Make(spec_.optimizer, plan_.elements())),
        schedule_(MakeSchedule(spec_, 1)),
        recorder_(0),
        server_(MakeOwnServer(process, comm_, schedule_, timeline_)),
        strategy_(entry_.make({setup_.world, process.client(), comm_, *optimizer_, schedule_,
                               recorder_, timeline_, spec_.options})) {
    FillForTiming(spec_.options.codec, space_.grads());
    strategy_->Start(space_, plan_, {});
  }

  void Meet() override {
    Exchange(process_.client(), setup_.world, fmt::format("bench/meeting/{}", meetings_++), "",
             Deadline::After(comm_.meeting_timeout));
  }

  void Run() override {
    PushAndPull(*strategy_, space_, plan_, step_);
    ++step_;
  }

  std::optional<std::int64_t> CountWrong() override {
    if (!Exact()) return std::nullopt;
    std::int64_t wrong = 0;
    for (int round = 0; round < kCheckRounds; ++round) {
      Meet();  // where servers wait for nobody, no push before all have compared
      const auto count = entry_.synchronous ? CountWrongOfStep : CountWrongOnceSettled;
      wrong += count(*strategy_, space_, plan_, setup_.world, step_, round);
      ++step_;
    }
    return wrong;
  }

  std::vector<std::string> Notes() const override { return recorder_.notes(); }

  void Stop() override {
    strategy_->Stop();
    Meet();
  }

 private:
  /// Buckets as a training run cuts them, but one for every server at least.
  static BucketPlan Buckets(const RunSpec& spec, std::int64_t bytes) {
    const std::int64_t share = bytes / std::max(1, spec.servers);
    const auto target = static_cast<std::size_t>(std::min(spec.bucket_bytes, share));
    const std::vector<TensorSpec> tensors{{"all", static_cast<std::size_t>(bytes) / sizeof(float)}};
    BucketPlan plan(tensors, {.target_bytes = target, .first_bytes = target});
    RefuseIdleServers(spec, plan);
    return plan;
  }

  /// Plain gradient descent at rate 1 on integers is exact, in any order; what is dropped, rounded
  /// or scaled by its staleness is not.
  bool Exact() const {
    const StrategyOptions& options = spec_.options;
    const bool reads_backups =
        std::ranges::find(entry_.keys, std::string_view("backups")) != entry_.keys.end();
    const bool drops = reads_backups && options.backups > 0;
    return !drops && !options.staleness_lr && options.codec.kind == CodecKind::kFp32;
  }

  MemberProcess& process_;
  const MemberSetup& setup_;
  const RunSpec& spec_;
  const StrategyEntry& entry_;
  const CommOptions comm_;
  const BucketPlan plan_;
  FlatSpace space_;
  std::unique_ptr<Optimizer> optimizer_;
  const Schedule schedule_;
  Recorder recorder_;
  Timeline timeline_;
  std::unique_ptr<Server> server_;  // null on a worker without one
  std::unique_ptr<Strategy> strategy_;
  std::int64_t step_ = 0;
  int meetings_ = 0;
};

}  // namespace

std::unique_ptr<TimedOperation> MakeTimedPushPull(MemberProcess& process, std::int64_t bytes) {
  return std::make_unique<TimedPushPull>(process, bytes);
}

}  // namespace ringside

#include <fmt/format.h>

#include <array>
#include <string>
#include <vector>

#include "ringside/common/measure/recorder.h"
#include "ringside/common/measure/timeline.h"
#include "ringside/experiments/worker/run_factories.h"
#include "ringside/experiments/worker/timed_operation.h"
#include "ringside/models/cuda/cuda_models.h"
#include "ringside/ring/collectives/codec_collective.h"

namespace ringside {
namespace {

/// Sums in place, in memory of the kind that the collective prefers, as in a strategy; or in that
/// of a GPU.
class TimedSum : public TimedOperation {
 public:
  TimedSum(MemberProcess& process, const CollectiveEntry& entry, std::int64_t bytes, int index)
      : setup_(process.setup()),
        comm_(MakeCommOptions(setup_)),
        plan_(OneBucket(bytes)),
        space_(MakeSpace(entry.memory, plan_, setup_)),
        on_device_(MakeVectors()),
        recorder_(0),
        collective_(MakeSum(entry,
                            {setup_.world, process.client(), comm_, setup_.spec.options,
                             fmt::format("bench/{}", index)},
                            recorder_, timeline_)) {
    collective_->Prepare(space_, plan_);
    FillForTiming({}, space_.grads());  // touches every page before the timing
    if (on_device_) Upload();
  }

  void Barrier() override {
    constexpr std::array<std::byte, 1> kNothing{};
    collective_->AllGather(kNothing);
  }

  void Slowest(std::span<double> values) override {
    const auto bytes = collective_->AllGather(std::as_bytes(values));
    for (std::size_t begin = 0; begin < bytes.size(); begin += values.size_bytes()) {
      KeepLarger(std::span(bytes).subspan(begin, values.size_bytes()), values);
    }
  }

  void Refill() override {
    if (!Exact()) FillForTiming(setup_.spec.options.codec, space_.grads());
  }

  void Run() override {
    BucketMessage message{
        .data = space_.grads(), .bucket = 0, .step = step_++, .vector = FlatVector::kGrads};
    if (on_device_) {
      message.data = on_device_->grads();
      message.device = Device::kCuda;
    }
    collective_->AllReduceSum(message);
  }

  std::optional<std::int64_t> CountMismatches() override {
    if (!Exact()) return std::nullopt;
    std::int64_t wrong = 0;
    const std::span<float> data = space_.grads();
    for (int round = 0; round < kCheckRounds; ++round) {
      const ExactIntegerPattern known(setup_.world.workers, round);
      for (std::size_t i = 0; i < data.size(); ++i) data[i] = known.Own(setup_.world.rank, i);
      if (on_device_) Upload();
      Run();
      if (on_device_) on_device_->CopyToHost(FlatVector::kGrads);
      for (std::size_t i = 0; i < data.size(); ++i) wrong += data[i] != known.Sum(i) ? 1 : 0;
    }
    return wrong;
  }

  std::vector<std::string> Notes() const override {
    const std::string notes = collective_->Notes();
    return notes.empty() ? std::vector<std::string>() : std::vector{notes};
  }

  void Stop() override { Barrier(); }

 private:
  /// False under a codec, which rounds or drops values.
  bool Exact() const { return !setup_.spec.options.codec.encodes(); }

  std::unique_ptr<DeviceVectors> MakeVectors() const {
    if (!setup_.bench->on_device) return nullptr;
    return LoadCuda().make_vectors(space_, setup_.world.local_rank);
  }

  void Upload() { on_device_->CopyToDevice(FlatVector::kGrads, 0, space_.size()); }

  static BucketPlan OneBucket(std::int64_t bytes) {
    const auto size = static_cast<std::size_t>(bytes);
    const std::vector<TensorSpec> tensors{{"all", size / sizeof(float)}};
    return {tensors, {.target_bytes = size, .first_bytes = size}};
  }

  const MemberSetup& setup_;
  const CommOptions comm_;
  const BucketPlan plan_;
  FlatSpace space_;
  std::unique_ptr<DeviceVectors> on_device_;  // null: the sums are in host memory
  std::int64_t step_ = 0;                     // of the one bucket
  Recorder recorder_;
  Timeline timeline_;
  std::unique_ptr<Collective> collective_;
};

}  // namespace

std::unique_ptr<TimedOperation> MakeTimedSum(MemberProcess& process, std::int64_t bytes,
                                             int index) {
  const RunSpec& spec = process.setup().spec;
  const CollectiveEntry* entry = spec.catalog().FindCollective(spec.strategy);
  if (entry == nullptr) return nullptr;
  return std::make_unique<TimedSum>(process, *entry, bytes, index);
}

}  // namespace ringside

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "common/measure/recorder.h"
#include "common/measure/timeline.h"
#include "experiments/units.h"
#include "experiments/worker/run_parts.h"
#include "experiments/worker/timed_operation.h"
#include "ring/codec_collective.h"
#include "ring/collective_table.h"

namespace ringside {
namespace {

/// In place, on vectors in memory of the kind that the collective prefers, as a strategy's are.
class TimedSum : public TimedOperation {
 public:
  TimedSum(MemberProcess& process, const CollectiveEntry& entry, std::int64_t bytes, int index)
      : setup_(process.setup()),
        comm_(MakeCommOptions(setup_)),
        plan_(OneBucket(bytes)),
        space_(MakeSpace(entry.memory, plan_, setup_)),
        what_("a sum of " + FormatBytes(static_cast<double>(bytes))),
        recorder_(0),
        collective_(MakeSum(entry,
                            {setup_.world, process.client(), comm_, setup_.spec.options,
                             fmt::format("bench/{}", index)},
                            recorder_, timeline_)) {
    collective_->Prepare(space_, plan_, 0);
    FillForTiming({}, space_.grads());  // no page is touched first while it is timed
  }

  void Meet() override {
    constexpr std::array<std::byte, 1> kNothing{};
    collective_->AllGather(kNothing);
  }

  void Refill() override {
    if (!Exact()) FillForTiming(setup_.spec.options.codec, space_.grads());
  }

  void Run() override { collective_->AllReduceSum(space_.grads(), what_); }

  std::optional<std::int64_t> CountWrong() override {
    if (!Exact()) return std::nullopt;
    std::int64_t wrong = 0;
    const std::span<float> data = space_.grads();
    for (int round = 0; round < kCheckRounds; ++round) {
      const KnownIntegers known(setup_.world.workers, round);
      for (std::size_t i = 0; i < data.size(); ++i) data[i] = known.Own(setup_.world.rank, i);
      Run();
      for (std::size_t i = 0; i < data.size(); ++i) wrong += data[i] != known.Sum(i) ? 1 : 0;
    }
    return wrong;
  }

  std::vector<std::string> Notes() const override {
    const std::string notes = collective_->Notes();
    return notes.empty() ? std::vector<std::string>() : std::vector{notes};
  }

  void Stop() override { Meet(); }

 private:
  /// What is rounded or dropped is not.
  bool Exact() const { return setup_.spec.options.codec.kind == CodecKind::kFp32; }

  static BucketPlan OneBucket(std::int64_t bytes) {
    const auto size = static_cast<std::size_t>(bytes);
    const std::vector<TensorSpec> tensors{{"all", size / sizeof(float)}};
    return {tensors, {.target_bytes = size, .first_bytes = size}};
  }

  const MemberSetup& setup_;
  const CommOptions comm_;
  const BucketPlan plan_;
  FlatSpace space_;
  const std::string what_;
  Recorder recorder_;
  Timeline timeline_;
  std::unique_ptr<Collective> collective_;
};

}  // namespace

std::unique_ptr<TimedOperation> MakeTimedSum(MemberProcess& process, std::int64_t bytes,
                                             int index) {
  const auto table = CollectiveTable();
  const auto found = std::ranges::find(table, std::string_view(process.setup().spec.strategy),
                                       [](const CollectiveEntry* entry) { return entry->name; });
  if (found == table.end()) return nullptr;
  return std::make_unique<TimedSum>(process, **found, bytes, index);
}

}  // namespace ringside

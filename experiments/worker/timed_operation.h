#ifndef RINGSIDE_EXPERIMENTS_WORKER_TIMED_OPERATION_H_
#define RINGSIDE_EXPERIMENTS_WORKER_TIMED_OPERATION_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/codec_options.h"
#include "experiments/worker/member_process.h"

namespace ringside {

/// What `ringside bench` times, on vectors of one size: a bare sum of a collective, or a step of
/// push and pull. All calls are collective, on one thread. Throws what the strategy throws.
class TimedOperation {
 public:
  virtual ~TimedOperation() = default;

  /// Returns when all workers have come here.
  virtual void Meet() = 0;
  /// Off the clock, before each `Run` that is to cost what it costs in training.
  virtual void Refill() {}
  /// Once, on zeros: however often it runs, nothing grows. Under a codec, whose work may depend on
  /// what it encodes, on numbers that are none.
  virtual void Run() = 0;
  /// Sums integers that every worker knows and counts what differs from the exact sum, on this
  /// worker. Empty where the exact sum is not what the strategy promises.
  virtual std::optional<std::int64_t> CountWrong() = 0;
  /// What the strategy tells of itself: what `auto` picked.
  virtual std::vector<std::string> Notes() const = 0;
  /// The last call: nobody reads another's memory or talks to another's server afterwards.
  virtual void Stop() = 0;
};

/// Under a codec numbers near 1e-3, no two neighbours alike; else zeros.
inline void FillForTiming(const CodecOptions& codec, std::span<float> values) {
  const bool encoded = codec.kind != CodecKind::kFp32;
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = encoded ? 1e-3F * (static_cast<float>(i % 97) / 97 + 0.5F) : 0.0F;
  }
}

/// The collective of that name at `bytes`; null where the strategy stands on none. `index` is new
/// for each operation of a job.
std::unique_ptr<TimedOperation> MakeTimedSum(MemberProcess& process, std::int64_t bytes, int index);
/// Submit and Await of every bucket of the strategy, servers at work; one a job.
std::unique_ptr<TimedOperation> MakeTimedPushPull(MemberProcess& process, std::int64_t bytes);

/// Integers small enough that sums over all workers are exact in fp32, whatever their order.
class KnownIntegers {
 public:
  /// `round` makes them differ between two sums.
  explicit KnownIntegers(int workers, int round) : workers_(workers), round_(round) {}

  float Own(int rank, std::size_t i) const { return Pattern(i) + static_cast<float>(rank % 16); }
  float Sum(std::size_t i) const {
    const int whole = workers_ / 16;
    const int rest = workers_ % 16;
    const int ranks = whole * 120 + rest * (rest - 1) / 2;
    return static_cast<float>(workers_) * Pattern(i) + static_cast<float>(ranks);
  }

 private:
  // 97 is prime: parts that are swapped between two ranks do not look alike.
  float Pattern(std::size_t i) const {
    return static_cast<float>((i + static_cast<std::size_t>(round_) * 31) % 97);
  }

  int workers_;
  int round_;
};

/// Of `CountWrong`: what one sum leaves behind must not be right in the next.
inline constexpr int kCheckRounds = 2;

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_WORKER_TIMED_OPERATION_H_

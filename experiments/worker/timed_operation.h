#ifndef RINGSIDE_EXPERIMENTS_WORKER_TIMED_OPERATION_H_
#define RINGSIDE_EXPERIMENTS_WORKER_TIMED_OPERATION_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ringside/common/codec/codec_options.h"
#include "ringside/experiments/worker/member_process.h"

namespace ringside {

/// An operation that `ringside bench` times, on vectors of one size: a collective's sum, or a step
/// of push and pull. All calls are collective, on one thread. Throws what the strategy throws.
class TimedOperation {
 public:
  virtual ~TimedOperation() = default;

  /// Returns when all workers have called it.
  virtual void Barrier() = 0;
  /// Replaces each value by the largest of all workers. All give the same number of values. Also a
  /// barrier.
  virtual void Slowest(std::span<double> values) = 0;
  /// Refills the vectors, untimed, before each `Run` whose cost should be that of training.
  virtual void Refill() {}
  /// Runs the operation once, on zeros, so that no value grows from run to run. Under a codec it
  /// runs on nonzero numbers, because a codec's work may depend on the values.
  virtual void Run() = 0;
  /// Sums integers that every worker knows and counts the elements on this worker that differ from
  /// the exact sum. Returns nothing when the strategy does not promise the exact sum.
  virtual std::optional<std::int64_t> CountMismatches() = 0;
  /// The strategy's notes, such as what `auto` picked.
  virtual std::vector<std::string> Notes() const = 0;
  /// Must be the last call. After it no worker uses another's memory or server.
  virtual void Stop() = 0;
};

/// Fills with zeros. Under a codec, fills with numbers near 1e-3, no two neighbours equal.
inline void FillForTiming(const CodecOptions& codec, std::span<float> values) {
  const bool encoded = codec.encodes();
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = encoded ? 1e-3F * (static_cast<float>(i % 97) / 97 + 0.5F) : 0.0F;
  }
}

/// Replaces each value by the one in `theirs`, where that is larger.
inline void KeepLarger(std::span<const std::byte> theirs, std::span<double> values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    double value = 0;
    std::memcpy(&value, theirs.data() + i * sizeof(value), sizeof(value));
    values[i] = std::max(values[i], value);
  }
}

/// Times the strategy's collective on `bytes`; null when the strategy uses no collective. `index`
/// differs for each operation of a job.
std::unique_ptr<TimedOperation> MakeTimedSum(MemberProcess& process, std::int64_t bytes, int index);
/// Times submitting and awaiting every bucket, with servers running; one per job.
std::unique_ptr<TimedOperation> MakeTimedPushPull(MemberProcess& process, std::int64_t bytes);
/// The most bytes of a message of that operation.
int LargestPushPullMessage(const RunSpec& spec, std::int64_t bytes);

/// Integers so small that their sums over all workers are exact in fp32, in any order.
class ExactIntegerPattern {
 public:
  /// The integers differ with `round`.
  explicit ExactIntegerPattern(int workers, int round) : workers_(workers), round_(round) {}

  float Own(int rank, std::size_t i) const { return Pattern(i) + static_cast<float>(rank % 16); }
  float Sum(std::size_t i) const {
    const int whole = workers_ / 16;
    const int rest = workers_ % 16;
    const int ranks = whole * 120 + rest * (rest - 1) / 2;
    return static_cast<float>(workers_) * Pattern(i) + static_cast<float>(ranks);
  }

 private:
  // 97 is prime, so that parts swapped between two ranks differ.
  float Pattern(std::size_t i) const {
    return static_cast<float>((i + static_cast<std::size_t>(round_) * 31) % 97);
  }

  int workers_;
  int round_;
};

/// Rounds of `CountMismatches`. Each round has other integers, so a sum left from one round is
/// wrong in the next.
inline constexpr int kCheckRounds = 2;

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_WORKER_TIMED_OPERATION_H_

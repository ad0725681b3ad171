#ifndef RINGSIDE_COMMON_DATA_SAMPLER_H_
#define RINGSIDE_COMMON_DATA_SAMPLER_H_

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ringside {

/// Chooses the samples that a worker reads in a step. The order of the global batch depends only on
/// (seed, epoch, step). The number of workers decides only how a global batch is divided. So every
/// run sees the same global batches.
///
/// Epoch e is the Fisher-Yates shuffle of 0..n-1 (see `Order`) with random numbers from
/// SplitMix64(seed, e). Step s of an epoch takes the next `global_batch` samples; the last step
/// takes the rest. Each rank takes a contiguous part. The first (size mod workers) ranks take one
/// sample more.
class Sampler {
 public:
  enum class Order {
    kShuffled,
    kUnchanged,  ///< Each epoch is 0..n-1: for samples that are all alike. It takes no memory.
  };

  /// `samples` >= 1, `global_batch` >= 1.
  Sampler(std::size_t samples, std::size_t global_batch, std::uint64_t seed,
          Order order = Order::kShuffled);

  std::int64_t steps_per_epoch() const;
  /// The number of samples in the global batch of a global step.
  std::size_t GlobalSamples(std::int64_t step) const;
  /// The sample indices of this rank in this global step (epoch = step / steps_per_epoch()). Keeps
  /// the last epoch's permutation, so ascending steps are cheap. Not thread-safe.
  std::vector<std::size_t> Indices(std::int64_t step, int rank, int workers);

 private:
  void Shuffle(std::int64_t epoch);

  std::size_t samples_;
  std::size_t global_batch_;
  std::uint64_t seed_;
  Order order_kind_;
  std::int64_t shuffled_epoch_ = -1;
  std::vector<std::size_t> order_;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_DATA_SAMPLER_H_

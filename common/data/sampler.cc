#include "ringside/common/data/sampler.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "ringside/common/base/errors.h"
#include "ringside/common/base/splitmix64.h"

namespace ringside {
namespace {

// Every epoch has its own generator.
SplitMix64 GeneratorOf(std::uint64_t seed, std::int64_t epoch) {
  const auto stream = static_cast<std::uint64_t>(epoch);
  return SplitMix64(MixBits(seed + kSplitMix64Gamma) ^ MixBits(stream * kSplitMix64Gamma));
}

}  // namespace

Sampler::Sampler(std::size_t samples, std::size_t global_batch, std::uint64_t seed, Order order)
    : samples_(samples), global_batch_(global_batch), seed_(seed), order_kind_(order) {
  if (samples == 0) throw ConfigError("the training split has no samples");
  if (global_batch == 0) throw ConfigError("the global batch is empty");
}

std::int64_t Sampler::steps_per_epoch() const {
  return static_cast<std::int64_t>((samples_ - 1) / global_batch_ + 1);
}

std::size_t Sampler::GlobalSamples(std::int64_t step) const {
  const auto step_of_epoch = static_cast<std::size_t>(step % steps_per_epoch());
  return std::min(global_batch_, samples_ - step_of_epoch * global_batch_);
}

std::vector<std::size_t> Sampler::Indices(std::int64_t step, int rank, int workers) {
  const auto first = static_cast<std::size_t>(step % steps_per_epoch()) * global_batch_;
  const auto mine = static_cast<std::size_t>(rank);
  const std::size_t total = GlobalSamples(step);
  const std::size_t share = total / static_cast<std::size_t>(workers);
  const std::size_t larger = total % static_cast<std::size_t>(workers);
  const std::size_t begin = first + mine * share + std::min(mine, larger);
  const std::size_t size = share + (mine < larger ? 1 : 0);
  if (order_kind_ == Order::kUnchanged) {
    std::vector<std::size_t> indices(size);
    std::iota(indices.begin(), indices.end(), begin);
    return indices;
  }
  Shuffle(step / steps_per_epoch());
  const auto from = order_.begin() + static_cast<std::ptrdiff_t>(begin);
  return {from, from + static_cast<std::ptrdiff_t>(size)};
}

void Sampler::Shuffle(std::int64_t epoch) {
  if (epoch == shuffled_epoch_) return;
  order_.resize(samples_);
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  SplitMix64 random = GeneratorOf(seed_, epoch);
  for (std::size_t i = samples_ - 1; i > 0; --i) std::swap(order_[i], order_[random.Below(i + 1)]);
  shuffled_epoch_ = epoch;
}

}  // namespace ringside

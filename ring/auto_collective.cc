#include "ring/auto_collective.h"

#include <algorithm>
#include <chrono>
#include <cstring>

namespace ringside {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kLeastBytes = 4 << 10;
constexpr std::size_t kGrowth = 8;
constexpr std::size_t kMostBytes = 16 << 20;

/// No further size, and no second round, is begun after so many seconds of sums.
constexpr double kBudget = 1.0;
/// Of one round of one algorithm at one size.
constexpr double kRoundSeconds = 0.005;
constexpr int kRounds = 3;  // the best counts: what else the machine does is no cost of ours

std::vector<RingAlgorithm> AllAlgorithms() {
  std::vector<RingAlgorithm> all;
  for (const LinkAlgorithm& algorithm : LinkAlgorithms()) all.push_back(algorithm.id);
  return all;
}

std::vector<std::string> AllNames() {
  std::vector<std::string> names;
  for (const LinkAlgorithm& algorithm : LinkAlgorithms()) names.emplace_back(algorithm.name);
  return names;
}

std::size_t LargestBucketBytes(const BucketPlan& plan) {
  std::size_t elements = 0;
  for (int b = 0; b < plan.buckets(); ++b) elements = std::max(elements, plan.range(b).size());
  return elements * sizeof(float);
}

/// 4 KiB, growing up to the largest bucket's.
std::vector<std::size_t> SizesFor(const BucketPlan& plan) {
  const std::size_t largest = std::clamp(LargestBucketBytes(plan), kLeastBytes, kMostBytes);
  std::vector<std::size_t> sizes;
  for (std::size_t bytes = kLeastBytes; bytes < largest; bytes *= kGrowth) sizes.push_back(bytes);
  sizes.push_back(largest);
  return sizes;
}

double Largest(const std::vector<std::byte>& gathered) {
  std::vector<double> values(gathered.size() / sizeof(double));
  std::memcpy(values.data(), gathered.data(), gathered.size());
  return std::ranges::max(values);
}

}  // namespace

AutoCollective::AutoCollective(const CollectiveContext& context)
    : gloo_(context.world, context.store, context.comm, AllAlgorithms(), context.prefix),
      costs_(AllNames()) {}

void AutoCollective::Prepare(const FlatSpace&, const BucketPlan& plan) {
  if (gloo_.workers() == 1) return;
  double spent = 0;
  for (const std::size_t bytes : SizesFor(plan)) {
    std::vector<float> data(bytes / sizeof(float));  // zeros: sums stay finite
    std::vector<double> seconds;
    for (const LinkAlgorithm& algorithm : LinkAlgorithms()) {
      seconds.push_back(Measure(algorithm.id, data, spent));
    }
    costs_.Add(bytes, std::move(seconds));
    if (spent > kBudget) break;
  }
}

double AutoCollective::Measure(RingAlgorithm algorithm, std::span<float> data, double& spent) {
  double best = Time(algorithm, data, 1);
  spent += best;
  const int sums = std::clamp(static_cast<int>(kRoundSeconds / best), 1, 50);
  for (int round = 0; round < kRounds && spent < kBudget; ++round) {
    const double seconds = Time(algorithm, data, sums);
    spent += seconds * sums;
    best = std::min(best, seconds);
  }
  return best;
}

double AutoCollective::Time(RingAlgorithm algorithm, std::span<float> data, int sums) {
  gloo_.Use(algorithm);
  gloo_.AllGather({});
  const auto begin = Clock::now();
  for (int i = 0; i < sums; ++i) gloo_.AllReduceSum(data, "the trial of algorithms");
  const double mine = std::chrono::duration<double>(Clock::now() - begin).count() / sums;
  return Largest(gloo_.AllGather(std::as_bytes(std::span(&mine, 1))));
}

void AutoCollective::AllReduceSum(std::span<float> data, const std::string& what) {
  if (!costs_.empty()) gloo_.Use(LinkAlgorithms()[costs_.Cheapest(data.size_bytes())].id);
  gloo_.AllReduceSum(data, what);
}

std::string AutoCollective::Notes() const {
  return costs_.empty() ? "" : "auto picks by size: " + costs_.Describe();
}

}  // namespace ringside

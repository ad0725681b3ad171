#include "ringside/ring/collectives/auto_collective.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "ringside/common/base/deadline.h"
#include "ringside/common/base/dilated_clock.h"
#include "ringside/ring/collectives/collective_table.h"
#include "ringside/ring/core/host_map.h"

namespace ringside {
namespace {

using Clock = DilatedClock;

constexpr std::size_t kLeastBytes = 4 << 10;
constexpr std::size_t kGrowth = 8;
constexpr std::size_t kMostBytes = 16 << 20;

/// After this many seconds of sums, no further size and no second round begins.
constexpr double kBudget = 1.0;
/// Seconds of one round of one algorithm at one size.
constexpr double kRoundSeconds = 0.005;
constexpr int kRounds = 3;  // the best one counts: other load on the machine should not matter

std::vector<const LinkAlgorithm*> AlgorithmsFor(const CodecOptions& codec) {
  const bool on_the_way = codec.entry->scheme == AggregationScheme::kReencodedPerHop;
  std::vector<const LinkAlgorithm*> able;
  for (const LinkAlgorithm* algorithm : LinkAlgorithms()) {
    if (!on_the_way || WhyNotEncoded(*algorithm, codec).empty()) able.push_back(algorithm);
  }
  return able;
}

/// Gathers which workers are on which host.
HostMap MapOf(const CollectiveContext& context) {
  const Deadline deadline = Deadline::After(context.comm.rendezvous_timeout());
  return MapHosts(context.world.rank,
                  StoreAllGather(context.store, context.world, context.prefix + "/hosts",
                                 context.world.host, deadline));
}

std::size_t LargestBucketBytes(const BucketPlan& plan) {
  std::size_t elements = 0;
  for (int b = 0; b < plan.buckets(); ++b) elements = std::max(elements, plan.range(b).size());
  return elements * sizeof(float);
}

/// Sizes to try: from 4 KiB up to the largest bucket's.
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
    : algorithms_(AlgorithmsFor(context.options.codec)),
      gloo_(context.world, context.store, context.comm, algorithms_, context.prefix),
      costs_({}) {
  gloo_.RecordTo(context.timeline);
  std::vector<std::string> names;
  for (const LinkAlgorithm* algorithm : algorithms_) names.emplace_back(algorithm->name);
  const HostMap map = MapOf(context);
  const bool shares = map.hosts.size() < static_cast<std::size_t>(context.world.workers);
  if (shares && context.options.codec.entry->scheme != AggregationScheme::kReencodedPerHop) {
    const CollectiveEntry hierarchical = HierarchicalCollectiveEntry();
    hierarchy_ = hierarchical.make({context.world, context.store, context.comm, defaults_,
                                    context.prefix + "/hierarchy", context.timeline});

    one_host_ = map.hosts.size() == 1;
    names.push_back(one_host_ ? ShmCollectiveEntry().name : hierarchical.name);
  }
  costs_ = CostTable(std::move(names));
}

void AutoCollective::Prepare(const FlatSpace& space, const BucketPlan& plan) {
  if (gloo_.workers() == 1) return;
  if (hierarchy_ != nullptr) hierarchy_->Prepare(space, plan);
  std::vector<float> small;  // zeros, like gradients before the first step: sums stay finite
  double spent = 0;
  for (const std::size_t bytes : SizesFor(plan)) {
    const std::size_t elements = bytes / sizeof(float);
    if (elements > space.size()) small.resize(elements);
    const BucketMessage trial =
        elements > space.size()
            ? BucketMessage{.data = small}
            : BucketMessage{.data = space.grads().first(elements), .vector = FlatVector::kGrads};
    std::vector<double> seconds;
    const std::size_t ways = algorithms_.size() + (hierarchy_ == nullptr ? 0 : 1);
    for (std::size_t way = 0; way < ways; ++way) seconds.push_back(Measure(way, trial, spent));
    costs_.Add(bytes, std::move(seconds));
    if (spent > kBudget) break;
  }
}

double AutoCollective::Measure(std::size_t way, const BucketMessage& trial, double& spent) {
  double best = Time(way, trial, 1);
  spent += best;
  const int sums = std::clamp(static_cast<int>(kRoundSeconds / best), 1, 50);
  for (int round = 0; round < kRounds && spent < kBudget; ++round) {
    const double seconds = Time(way, trial, sums);
    spent += seconds * sums;
    best = std::min(best, seconds);
  }
  return best;
}

double AutoCollective::Time(std::size_t way, const BucketMessage& trial, int sums) {
  gloo_.AllGather({});
  const auto begin = Clock::now();
  for (int i = 0; i < sums; ++i) Sum(way, trial);
  const double mine = std::chrono::duration<double>(Clock::now() - begin).count() / sums;
  return Largest(gloo_.AllGather(std::as_bytes(std::span(&mine, 1))));
}

void AutoCollective::AllReduceSum(const BucketMessage& message) {
  Sum(ChooseAlgorithm(message.data.size_bytes()), message);
}

void AutoCollective::AllReduceEncoded(const BucketMessage& message, Codec& codec) {
  gloo_.Use(*algorithms_[ChooseAlgorithm(codec.EncodedBytes(message.data.size()))]);
  gloo_.AllReduceEncoded(message, codec);
}

std::size_t AutoCollective::ChooseAlgorithm(std::size_t bytes) const {
  return costs_.empty() ? 0 : costs_.Cheapest(bytes);
}

void AutoCollective::Sum(std::size_t way, const BucketMessage& message) {
  if (way == algorithms_.size()) return hierarchy_->AllReduceSum(message);
  gloo_.Use(*algorithms_[way]);
  gloo_.AllReduceSum(message);
}

Traffic AutoCollective::traffic() const {
  Traffic all = gloo_.traffic();
  if (hierarchy_ != nullptr) {
    const Traffic more = hierarchy_->traffic();
    all.sent += more.sent;
    all.received += more.received;
  }
  return all;
}

std::string AutoCollective::Notes() const {
  return costs_.empty() ? "" : "auto picks by size: " + costs_.Describe();
}

}  // namespace ringside

#include "ringside/paramserver/slicing/slice_plan.h"

#include <algorithm>

#include "ringside/common/base/fnv1a.h"

namespace ringside {
namespace {

std::size_t RoundUp(std::size_t elements, std::size_t unit) {
  return (elements + unit - 1) / unit * unit;
}

std::size_t RoundDown(std::size_t elements, std::size_t unit) { return elements / unit * unit; }

}  // namespace

std::vector<double> IdealShares(const World& world) {
  const int dedicated = world.dedicated_servers();
  const int colocated = world.colocated_servers;
  std::vector<double> shares(static_cast<std::size_t>(world.servers), 1.0 / world.servers);
  if (dedicated == 0 || colocated == 0) return shares;
  const double workers = world.workers;
  const double in_worker =
      dedicated >= world.workers
          ? 0
          : (workers - dedicated) / (dedicated * (workers - 2) + colocated * workers);
  const double alone = (1 - colocated * in_worker) / dedicated;
  std::ranges::fill(shares, in_worker);
  std::fill_n(shares.begin(), dedicated, alone);
  return shares;
}

SlicePlan::SlicePlan(const BucketPlan& plan, const World& world, std::size_t slice_elements,
                     std::size_t codec_block)
    : plan_fingerprint_(plan.Fingerprint()) {
  CutBuckets(plan, slice_elements, std::max(kAlignment, codec_block));
  if (slice_elements == 0) {
    DealWholeBuckets(plan, world);
  } else {
    DealInPlanOrder(world);
  }
  SumShares(plan.elements(), world.servers);
}

void SlicePlan::CutBuckets(const BucketPlan& plan, std::size_t slice_elements, std::size_t unit) {
  const std::size_t most = std::max(RoundDown(slice_elements, unit), unit);
  for (int bucket = 0; bucket < plan.buckets(); ++bucket) {
    const BucketPlan::Range& range = plan.range(bucket);
    const std::size_t pieces = slice_elements == 0 ? 1 : (range.size() + most - 1) / most;
    const std::size_t piece = RoundUp((range.size() + pieces - 1) / pieces, unit);
    for (std::size_t begin = range.begin; begin < range.end; begin += piece) {
      slices_.push_back({.bucket = bucket,
                         .begin = begin,
                         .size = std::min(piece, range.end - begin),
                         .leads = begin == range.begin});
    }
    ends_.push_back(slices());
  }
}

void SlicePlan::DealInPlanOrder(const World& world) {
  const std::vector<double> ideal = IdealShares(world);
  std::vector<std::size_t> owned(ideal.size());
  for (Slice& slice : slices_) {
    double least = 0;
    int best = -1;
    for (int server = 0; server < world.servers; ++server) {
      const auto index = static_cast<std::size_t>(server);
      if (ideal[index] <= 0) continue;
      const double filled = static_cast<double>(owned[index] + slice.size) / ideal[index];
      if (best >= 0 && filled >= least) continue;
      least = filled;
      best = server;
    }
    slice.server = best;
    owned[static_cast<std::size_t>(best)] += slice.size;
  }
}

void SlicePlan::DealWholeBuckets(const BucketPlan& plan, const World& world) {
  const BucketPlan::ServerCost dedicated{.fixed = 0,
                                         .per_element = static_cast<double>(world.workers)};
  const BucketPlan::ServerCost colocated{.fixed = static_cast<double>(plan.elements()),
                                         .per_element = world.workers - 2.0};
  std::vector<BucketPlan::ServerCost> costs(static_cast<std::size_t>(world.servers), colocated);
  std::fill_n(costs.begin(), world.dedicated_servers(), dedicated);
  const std::vector<int> owners = plan.AssignServers(costs);
  for (std::size_t slice = 0; slice < owners.size(); ++slice) slices_[slice].server = owners[slice];
}

void SlicePlan::SumShares(std::size_t elements, int servers) {
  shares_.assign(static_cast<std::size_t>(servers), 0);
  for (const Slice& slice : slices_) {
    shares_[static_cast<std::size_t>(slice.server)] +=
        static_cast<double>(slice.size) / static_cast<double>(elements);
  }
}

std::size_t SlicePlan::largest() const {
  std::size_t most = 0;
  for (const Slice& slice : slices_) most = std::max(most, slice.size);
  return most;
}

std::uint64_t SlicePlan::Fingerprint() const {
  std::uint64_t hash = Fnv1a(kFnv1aBasis, plan_fingerprint_);
  for (const Slice& slice : slices_) {
    hash = Fnv1a(hash, slice.begin + slice.size);
    hash = Fnv1a(hash, static_cast<std::uint64_t>(slice.server));
  }
  return hash;
}

double BusiestLinkBytes(std::span<const double> shares, const World& world,
                        const StepBytes& bytes) {
  const auto [gradients, parameters] = bytes;
  const double others = world.workers - 1.0;
  const bool without_server = world.colocated_servers < world.workers;
  double busiest = without_server ? std::max(gradients, parameters) : 0;
  for (int server = 0; server < world.servers; ++server) {
    const double share = shares[static_cast<std::size_t>(server)];
    if (server < world.dedicated_servers()) {
      busiest = std::max(busiest, world.workers * share * std::max(gradients, parameters));
      continue;
    }
    const double sent = (1 - share) * gradients + others * share * parameters;
    const double received = (1 - share) * parameters + others * share * gradients;
    busiest = std::max({busiest, sent, received});
  }
  return busiest;
}

}  // namespace ringside

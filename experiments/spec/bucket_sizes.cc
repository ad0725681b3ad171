#include "ringside/experiments/spec/bucket_sizes.h"

#include <algorithm>

#include "ringside/experiments/network/network_plan.h"
#include "ringside/experiments/spec/catalog.h"
#include "ringside/experiments/spec/server_layout.h"

namespace ringside {
namespace {

/// The most bytes that the strategy wants in a bucket; 0: any number.
std::size_t LargestBucket(const RunSpec& spec) {
  const StrategyEntry* strategy = spec.catalog().FindStrategy(spec.strategy);
  if (strategy == nullptr || !strategy->largest_bucket || !spec.network) return 0;
  const ServerLayout servers = LayoutServers(spec);
  const NetworkPlan plan = PlanNetwork(*spec.network, spec.workers, servers.dedicated, spec.hosts);
  if (plan.hosts.size() <= 1) return 0;
  const World world{
      .workers = spec.workers, .servers = servers.total(), .colocated_servers = servers.colocated};
  return strategy->largest_bucket(spec.options, world,
                                  GoodputBytesPerSecond(spec.network->slowest_bits_per_s()));
}

}  // namespace

BucketPlanOptions BucketSizesOf(const RunSpec& spec) {
  BucketPlanOptions options{.target_bytes = static_cast<std::size_t>(spec.bucket_bytes)};
  const std::size_t largest = LargestBucket(spec);
  // A target of 0 is a bucket for each tensor, and stays.
  if (largest > 0) options.target_bytes = std::min(options.target_bytes, largest);
  options.first_bytes = std::min(options.first_bytes, options.target_bytes);
  return options;
}

}  // namespace ringside

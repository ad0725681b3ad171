#include "ringside/experiments/spec/resolve/idle_servers.h"

#include <algorithm>
#include <cstddef>

#include "ringside/common/codec/codec.h"
#include "ringside/experiments/network/network_plan.h"
#include "ringside/experiments/spec/bucket_sizes.h"
#include "ringside/experiments/spec/catalog.h"
#include "ringside/experiments/spec/server_layout.h"
#include "ringside/paramserver/slicing/slice_plan.h"
#include "ringside/paramserver/slicing/slice_sizes.h"

namespace ringside {
namespace {

// A bucket is at most 1.5 times its target, rounded up to 64 bytes. With more than that many bytes
// per server, every server has a bucket. Then no plan is needed, which may have millions of
// buckets.
bool HasBucketForEveryServer(const RunSpec& spec, const BucketPlanOptions& cut,
                             std::span<const TensorSpec> tensors) {
  if (cut.target_bytes < sizeof(float)) return false;  // one bucket per tensor
  double bytes = 0;
  for (const TensorSpec& tensor : tensors) {
    bytes += static_cast<double>(tensor.elements) * sizeof(float);
  }
  return bytes >= spec.servers * (1.5 * static_cast<double>(cut.target_bytes) + 64);
}

/// Whether the strategy cuts buckets into slices. Between the hosts of an emulated network it does,
/// unless it keeps whole buckets.
bool CutsBuckets(const RunSpec& spec, const NetworkSpec& network) {
  const StrategyEntry* strategy = spec.catalog().FindStrategy(spec.strategy);
  if (strategy == nullptr || !strategy->Declares(kSliceKb.name)) return false;
  const int dedicated = LayoutServers(spec).dedicated;
  return PlanNetwork(network, spec.workers, dedicated, spec.hosts).hosts.size() > 1;
}

int Slices(const RunSpec& spec, const NetworkSpec& network, const BucketPlan& plan) {
  const LinkFacts links{.scope = LinkScope::kInterHost,
                        .bytes_per_s = GoodputBytesPerSecond(network.slowest_bits_per_s()),
                        .racks = network.racks};
  const WantedSizes wanted{.slice_bytes =
                               static_cast<std::size_t>(spec.options.Get(kSliceKb)) * 1024};
  const ServerLayout servers = LayoutServers(spec);
  const World world{
      .workers = spec.workers, .servers = servers.total(), .colocated_servers = servers.colocated};
  const SliceSizes sizes = ChooseSliceSizes(links, wanted, plan, world);
  return SlicePlan(plan, world, sizes.slice_bytes / sizeof(float), CodecBlock(spec.options.codec))
      .slices();
}

}  // namespace

int IdleServers(const RunSpec& spec, std::span<const TensorSpec> tensors) {
  const BucketPlanOptions cut = BucketSizesOf(spec);
  if (HasBucketForEveryServer(spec, cut, tensors)) return 0;
  const BucketPlan plan(tensors, cut);
  const int pieces = spec.network && CutsBuckets(spec, *spec.network)
                         ? Slices(spec, *spec.network, plan)
                         : plan.buckets();
  return std::max(0, spec.servers - pieces);
}

}  // namespace ringside

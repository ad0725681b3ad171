#include "ringside/paramserver/slicing/slice_sizes.h"

#include <algorithm>
#include <cmath>

namespace ringside {
namespace {

constexpr std::size_t kKiB = 1024;
constexpr std::size_t kMiB = 1024 * kKiB;

// Of those tried between four and eight emulated hosts (results/notes/paramserver.md).
constexpr double kSliceSeconds = 0.5e-3;
constexpr std::size_t kLeastSlice = 48 * kKiB;
constexpr std::size_t kMostSlice = 256 * kKiB;
constexpr std::size_t kSlicesInWindow = 3;
// The slices of all workers for one server. Their windows then come to three times as much. Larger
// windows overflow the queue in front of a server's link, and steps wait for lost packets.
constexpr double kSlicesOfAllWorkers = 1.0 * kMiB;

constexpr std::size_t kBucketsInWindow = 8;
constexpr std::size_t kLeastWindow = 4 * kMiB;
constexpr std::size_t kBucketsUnsent = 2;
constexpr std::size_t kLeastUnsent = 2 * kMiB;
constexpr std::size_t kMostUnsent = 8 * kMiB;
constexpr std::size_t kKernelUnsent = 128 * kKiB;

// A window may be this part of a slice smaller than whole slices: shares differ by a slice or so.
constexpr double kNearlyWhole = 0.05;

/// The mean, so that one large tensor does not enlarge the window.
std::size_t MeanBucketBytes(const BucketPlan& plan) {
  const auto buckets = static_cast<std::size_t>(std::max(plan.buckets(), 1));
  return plan.elements() * sizeof(float) / buckets;
}

/// Whole buckets that travel at the same time between hosts also end at the same time. So fewer of
/// them may.
std::size_t HalfBetweenHosts(std::size_t bytes, LinkScope scope) {
  return scope == LinkScope::kInterHost ? bytes / 2 : bytes;
}

std::size_t SliceBytes(const LinkFacts& links, const WantedSizes& wanted, const World& world) {
  if (wanted.whole_buckets) return 0;
  if (wanted.slice_bytes > 0) return wanted.slice_bytes;
  if (links.scope == LinkScope::kIntraHost) return 0;
  double bytes = std::min<double>(kMostSlice, kSlicesOfAllWorkers / std::max(world.workers, 1));
  if (links.bytes_per_s > 0) {
    bytes = std::min(bytes, world.servers * links.bytes_per_s * kSliceSeconds);
  }
  return static_cast<std::size_t>(std::max<double>(bytes, kLeastSlice));
}

std::size_t WindowOfSlices(const LinkFacts& links, std::size_t slice_bytes, const World& world) {
  const double on_the_way = links.bytes_per_s * links.round_trip_s / std::max(world.servers, 1);
  return kSlicesInWindow * slice_bytes + static_cast<std::size_t>(on_the_way);
}

std::size_t WindowOfBuckets(const LinkFacts& links, const WantedSizes& wanted,
                            const BucketPlan& plan, const World& world) {
  if (world.workers == 1 || wanted.order == SendOrder::kPriority) return 0;
  const std::size_t bytes = std::max(kBucketsInWindow * MeanBucketBytes(plan), kLeastWindow);
  return HalfBetweenHosts(bytes, links.scope);
}

/// The window of a server with this part of an average share, in whole slices.
std::size_t WholeSlices(double window, double part, std::size_t slice_bytes) {
  const double slices = std::ceil(window * part / static_cast<double>(slice_bytes) - kNearlyWhole);
  return static_cast<std::size_t>(std::max(slices, 1.0)) * slice_bytes;
}

}  // namespace

SliceSizes ChooseSliceSizes(const LinkFacts& links, const WantedSizes& wanted,
                            const BucketPlan& plan, const World& world) {
  SliceSizes sizes{.slice_bytes = SliceBytes(links, wanted, world),
                   .window_bytes = wanted.window_bytes};
  if (sizes.window_bytes > 0) return sizes;
  sizes.window_bytes = sizes.slice_bytes > 0 ? WindowOfSlices(links, sizes.slice_bytes, world)
                                             : WindowOfBuckets(links, wanted, plan, world);
  return sizes;
}

std::vector<SendLimits> PlanSendLimits(const SliceSizes& sizes, LinkScope scope,
                                       const BucketPlan& plan, const SlicePlan& slices) {
  const auto window = static_cast<double>(sizes.window_bytes);
  const std::size_t slice_bytes =
      std::max(std::min(sizes.slice_bytes, slices.largest() * sizeof(float)), std::size_t{1});
  const bool cut_between_hosts = scope == LinkScope::kInterHost && sizes.slice_bytes > 0;
  std::vector<SendLimits> limits;
  for (const double share : slices.shares()) {
    SendLimits server{.share = share, .kernel_unsent = kKernelUnsent};
    if (cut_between_hosts) {
      server.unsent = slice_bytes;
      server.kernel_unsent = std::min(kKernelUnsent, slice_bytes);
      server.connections = 1;
    } else {
      const std::size_t wanted = std::max(kBucketsUnsent * MeanBucketBytes(plan), kLeastUnsent);
      server.unsent = std::min(HalfBetweenHosts(wanted, scope), kMostUnsent);
    }
    if (sizes.window_bytes > 0) {
      const double part = share * static_cast<double>(slices.shares().size());
      server.unanswered = sizes.slice_bytes > 0 ? WholeSlices(window, part, slice_bytes)
                                                : static_cast<std::size_t>(window);
    }
    limits.push_back(server);
  }
  return limits;
}

double MeanWindowBytes(const std::vector<SendLimits>& limits) {
  double sum = 0;
  for (const SendLimits& server : limits) {
    sum += static_cast<double>(server.unanswered.value_or(0));
  }
  return limits.empty() ? 0 : sum / static_cast<double>(limits.size());
}

}  // namespace ringside

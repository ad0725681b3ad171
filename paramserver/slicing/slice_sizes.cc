#include "ringside/paramserver/slicing/slice_sizes.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ringside {
namespace {

constexpr std::size_t kKiB = 1024;
constexpr std::size_t kMiB = 1024 * kKiB;

// Of those tried between four and eight emulated hosts (results/notes/paramserver.md).
constexpr double kSliceSeconds = 0.5e-3;
constexpr std::size_t kLeastSlice = 48 * kKiB;
constexpr std::size_t kMostSlice = 256 * kKiB;
constexpr double kSlicesInWindow = 3;
constexpr double kLeastSlicesInWindow = 2;
// Under `priority` an urgent slice waits for what its worker has sent to all servers before. So
// slices and windows are as small as links can still be kept busy with.
constexpr std::size_t kUrgentSlice = 24 * kKiB;
constexpr std::size_t kLeastUrgentWindows = 96 * kKiB;  // of a worker for all servers together
constexpr double kMostBucketOverTarget = 1.5;           // as `BucketPlan` makes them
constexpr std::size_t kCutBytes = 64;                   // buckets are cut at multiples of this
// One slice of each worker for one server, and the windows of all workers for one server. With
// larger ones, workers drift apart, and the queue in front of a server's link overflows. Then steps
// wait for lost packets.
constexpr double kSlicesOfAllWorkers = 384.0 * kKiB;
constexpr double kWindowsOfAllWorkers = 1.25 * kMiB;
// The windows of all workers for all servers in other racks. Not all of them wait in front of the
// same uplink at the same time.
constexpr double kWindowsThroughUplinks = 1.5 * kMiB;
constexpr double kLeastSliceThroughUplink = 24.0 * kKiB;
// What a worker may pull at a time. Answers of all servers meet in the queue in front of its link.
constexpr std::size_t kPulledFromAllServers = 768 * kKiB;

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

/// The number of servers that own something, times the least share over the largest. So it is their
/// number if all shares are equal. At least 1.
double ServersInStep(const World& world) {
  double least = 1;
  double most = 0;
  int servers = 0;
  for (const double share : IdealShares(world)) {
    if (share <= 0) continue;
    least = std::min(least, share);
    most = std::max(most, share);
    ++servers;
  }
  return most > 0 ? std::max(servers * least / most, 1.0) : 1;
}

/// The window of a pair in different racks. Infinite with one rack.
double WindowThroughUplinks(const LinkFacts& links, const World& world) {
  const double dedicated = world.servers - world.colocated_servers;
  const double pairs =
      world.workers * (dedicated + world.colocated_servers * (1 - 1.0 / links.racks));
  if (links.racks <= 1 || pairs <= 0) return std::numeric_limits<double>::infinity();
  return kWindowsThroughUplinks / pairs;
}

/// Between hosts.
std::size_t GoodSliceBytes(const LinkFacts& links, const World& world) {
  double bytes = std::min<double>(kMostSlice, kSlicesOfAllWorkers / std::max(world.workers, 1));
  if (links.bytes_per_s > 0) {
    bytes = std::min(bytes, ServersInStep(world) * links.bytes_per_s * kSliceSeconds);
  }
  bytes = std::max<double>(bytes, kLeastSlice);
  const double half_window = WindowThroughUplinks(links, world) / 2;
  return static_cast<std::size_t>(std::min(bytes, std::max(half_window, kLeastSliceThroughUplink)));
}

/// The largest bucket if all buckets are as small as slices: then none is cut, and they are dealt
/// and sent as slices. Otherwise 0.
std::size_t SmallBucketBytes(const BucketPlan& plan) {
  std::size_t largest = 0;
  for (int bucket = 0; bucket < plan.buckets(); ++bucket) {
    largest = std::max(largest, plan.range(bucket).size() * sizeof(float));
  }
  if (largest > kMostBucketOverTarget * kMostSlice) return 0;
  return (largest + kCutBytes - 1) / kCutBytes * kCutBytes;
}

std::size_t SliceBytes(const LinkFacts& links, const WantedSizes& wanted, const BucketPlan& plan,
                       const World& world) {
  const bool inside = links.scope == LinkScope::kIntraHost;
  if (wanted.whole_buckets) return inside ? 0 : SmallBucketBytes(plan);
  if (wanted.slice_bytes > 0) return wanted.slice_bytes;
  if (inside) return 0;
  const std::size_t bytes = GoodSliceBytes(links, world);
  return wanted.order == SendOrder::kPriority ? std::min(bytes, kUrgentSlice) : bytes;
}

/// The bytes that a link carries to or from one server in a round trip.
double BytesOnTheWay(const LinkFacts& links, const World& world) {
  return links.bytes_per_s * links.round_trip_s / std::max(world.servers, 1);
}

std::size_t PulledBytes(const LinkFacts& links, const World& world) {
  return kPulledFromAllServers / static_cast<std::size_t>(std::max(world.servers, 1)) +
         static_cast<std::size_t>(BytesOnTheWay(links, world));
}

std::size_t WindowOfSlices(const LinkFacts& links, std::size_t slice_bytes, SendOrder order,
                           const World& world) {
  const auto slice = static_cast<double>(slice_bytes);
  double slices = std::clamp(std::floor(kWindowsOfAllWorkers / (world.workers * slice)),
                             kLeastSlicesInWindow, kSlicesInWindow);
  if (order == SendOrder::kPriority) {
    slices = std::max(kLeastSlicesInWindow,
                      static_cast<double>(kLeastUrgentWindows) / (world.servers * slice));
  }
  slices = std::max(std::min(slices, std::floor(WindowThroughUplinks(links, world) / slice)), 1.0);
  // Of the server with the largest share. The limits of the others follow from their shares.
  const double most = std::ranges::max(IdealShares(world)) * world.servers;
  return static_cast<std::size_t>(slices * slice / most + BytesOnTheWay(links, world));
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
  SliceSizes sizes{.slice_bytes = SliceBytes(links, wanted, plan, world),
                   .window_bytes = wanted.window_bytes};
  if (sizes.window_bytes > 0) return sizes;
  if (sizes.slice_bytes > 0) {
    sizes.window_bytes = WindowOfSlices(links, sizes.slice_bytes, wanted.order, world);
    sizes.pulled_bytes = PulledBytes(links, world);
  } else {
    sizes.window_bytes = WindowOfBuckets(links, wanted, plan, world);
  }
  return sizes;
}

std::size_t SmallBucketTarget(double bytes_per_s, const World& world) {
  return GoodSliceBytes({.bytes_per_s = bytes_per_s}, world);
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
      server.pulled = server.unanswered;
      if (sizes.pulled_bytes > 0) {
        server.pulled = std::min(*server.pulled, std::max(sizes.pulled_bytes, slice_bytes));
      }
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

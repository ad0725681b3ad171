#ifndef RINGSIDE_PARAMSERVER_SLICING_SLICE_SIZES_H_
#define RINGSIDE_PARAMSERVER_SLICING_SLICE_SIZES_H_

#include <cstddef>
#include <optional>
#include <vector>

#include "ringside/common/core/bucket_plan.h"
#include "ringside/common/core/world.h"
#include "ringside/common/strategy/option.h"
#include "ringside/common/strategy/strategy_options.h"
#include "ringside/paramserver/slicing/slice_plan.h"

namespace ringside {

inline constexpr IntegerOption kSliceKb{
    .name = "slice-kb",
    .placeholder = "KIB",
    .help = "parameter servers: cut buckets into slices of at most this size; 0: by the links",
    .default_value = 0,
    .least = 0,
    .most = 2 << 20,
    .hint = "0 chooses it from the rate of the links",
    .role = OptionRole::kMessageSize,
    .written_only_if_set = true};
inline constexpr IntegerOption kWindowKb{
    .name = "window-kb",
    .placeholder = "KIB",
    .help =
        "parameter servers: what a worker may have unanswered at an average server; 0: by the "
        "links",
    .default_value = 0,
    .least = 0,
    .most = 4 << 20,
    .hint = "0 chooses it from the rate of the links",
    .written_only_if_set = true};

/// Where pushes travel. Within a host the cores are the limit, and a core idles while a server has
/// no data. Between hosts the links are the limit, and answers should begin as early as possible.
enum class LinkScope { kIntraHost, kInterHost };

/// What is known of the links between workers and servers.
struct LinkFacts {
  LinkScope scope = LinkScope::kIntraHost;
  double bytes_per_s = 0;   ///< Of the slowest link; 0: unknown.
  double round_trip_s = 0;  ///< From host to host and back.
  int racks = 1;            ///< The hosts of a rack share one link to the other racks.
};

/// What a run asks for. 0: chosen here.
struct WantedSizes {
  bool whole_buckets = false;  ///< Never cut a bucket.
  std::size_t slice_bytes = 0;
  std::size_t window_bytes = 0;
  SendOrder order = SendOrder::kFifo;
};

/// Sizes in bytes of fp32. Encoded slices are shorter, so more of them fit into a window.
struct SliceSizes {
  std::size_t slice_bytes = 0;  ///< The most bytes of a slice; 0: buckets are not cut.
  /// What a worker may have unanswered at a server with an average share; 0: no limit.
  std::size_t window_bytes = 0;
  /// The most of it that may be pulls without a push; 0: all.
  std::size_t pulled_bytes = 0;
};

/// Chooses the sizes. Take N workers, S servers and links of B bytes per second.
///
/// Between hosts a slice is c = S B 0.5 ms (unlimited when B is unknown), at most 256 KiB and 384
/// KiB / N, at least 48 KiB. With unequal shares, S is multiplied by the least share over the
/// largest. The window of the server with the largest share is 3 c, or 2 c if 3 N c are more than
/// 1.25 MiB, and the bytes that travel in one round trip. Small slices let answers begin early; but
/// each one costs processor time. The limits by N keep the windows of all workers together small
/// enough for the queue in front of a server's link. A server answers a slice when the last worker
/// has pushed it. So a short window keeps workers together, and no push delays an answer for long.
///
/// With R > 1 racks the windows W of all pairs of a worker and a server in different racks can meet
/// in one queue. Then N S W x is at most 1.5 MiB, where x is the part of pairs in different racks:
/// 1 for dedicated servers, 1 - 1/R for servers inside workers. c is at most W / 2, but at least 24
/// KiB; W may then be a single slice.
///
/// Whole buckets are treated as slices if they are as small as slices (`SmallBucketTarget`).
///
/// Within a host buckets are not cut. Windows are eight mean buckets, at least 4 MiB (half of it
/// when whole buckets travel between hosts). There is none when workers may push in different
/// orders, and none for a single worker. Pure.
SliceSizes ChooseSliceSizes(const LinkFacts& links, const WantedSizes& wanted,
                            const BucketPlan& plan, const World& world);

/// The target of buckets that should be as small as slices, between hosts.
std::size_t SmallBucketTarget(double bytes_per_s, const World& world);

/// The limits on what a worker sends to one server, in bytes.
struct SendLimits {
  double share = 0;  ///< Of the plan's elements.
  /// The most that may wait until the kernel takes it. One slice may always wait.
  std::size_t unsent = std::size_t{8} << 20;
  /// A slice may begin while the slices that come before it in the order of sending leave room for
  /// it here. The first of them may always begin. Absent: no limit.
  std::optional<std::size_t> unanswered{};
  /// The same for pulls, whose answers all meet in front of the worker's own link. At most
  /// `unanswered`.
  std::optional<std::size_t> pulled{};
  /// The most unsent bytes of a connection in the kernel, where their order can no longer change.
  std::size_t kernel_unsent = std::size_t{128} << 10;
  /// More connections use more cores. One connection keeps slices in their order.
  std::size_t connections = 2;
};

/// The limits for each server. A server's window grows with its share.
std::vector<SendLimits> PlanSendLimits(const SliceSizes& sizes, LinkScope scope,
                                       const BucketPlan& plan, const SlicePlan& slices);

/// The mean window of the servers, as it is in force; 0: no limit.
double MeanWindowBytes(const std::vector<SendLimits>& limits);

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_SLICING_SLICE_SIZES_H_

#include "ringside/experiments/job/summary/ordered_step_bound.h"

#include <algorithm>

#include "ringside/experiments/network/network_plan.h"
#include "ringside/experiments/spec/catalog.h"
#include "ringside/experiments/spec/server_layout.h"
#include "ringside/experiments/spec/transport.h"

namespace ringside {
namespace {

bool HasEvenLinks(const RunSpec& spec) {
  return !spec.network || (spec.network->rates.empty() && spec.network->racks <= 1);
}

double LinkMs(const RunSpec& spec, double bytes) {
  return 1000 * bytes / GoodputBytesPerSecond(spec.link_bits_per_s);
}

/// The time that the last bucket needs on its own.
struct LastBucket {
  double there_ms = 0;  ///< In a ring: its sum.
  double back_ms = 0;
};

/// The last bucket's time from all workers to its server and back, over the server's link. An
/// asynchronous server answers each worker alone.
LastBucket LastBucketOf(const StrategyEntry& entry, const RunSpec& spec,
                        const OrderedStepInput& input, double comm_ms) {
  if (entry.traits.family == Family::kRing) return {.there_ms = comm_ms * input.last_bucket};
  if (!input.busiest_link_bytes || !HasEvenLinks(spec)) return {};
  const bool inside = LayoutServers(spec).colocated > 0;  // its worker's bucket stays there
  const double workers = entry.traits.synchronous() ? spec.workers - (inside ? 1 : 0) : 1;
  const double share = workers * input.last_bucket;
  return {.there_ms = LinkMs(spec, share * input.gradient_bytes),
          .back_ms = LinkMs(spec, share * input.parameter_bytes)};
}

/// The time of a worker's pushes over its own link.
double PushesMs(const RunSpec& spec, const OrderedStepInput& input) {
  const ServerLayout layout = LayoutServers(spec);
  const double inside = layout.colocated > 0 ? 1.0 / layout.total() : 0;
  return LinkMs(spec, (1 - inside) * input.gradient_bytes);
}

}  // namespace

std::optional<OrderedStepBound> OrderedStepBoundOf(const RunSpec& spec, const StepBound& bound,
                                                   const OrderedStepInput& input) {
  const StrategyEntry* entry = spec.catalog().FindStrategy(spec.strategy);
  if (entry == nullptr || !bound.comm_ms || *bound.comm_ms <= 0 || StepsPerSum(spec) > 1) {
    return std::nullopt;
  }
  const double comm_ms = *bound.comm_ms;
  const bool fifo = spec.options.order == SendOrder::kFifo;
  const LastBucket last = LastBucketOf(*entry, spec, input, comm_ms);
  const double busy_ms = input.busiest_link_bytes && HasEvenLinks(spec)
                             ? std::max(comm_ms, LinkMs(spec, *input.busiest_link_bytes))
                             : comm_ms;
  OrderedStepBound order;
  order.compute_ms = fifo ? input.forward_ms : 0;
  if (!spec.overlap) order.compute_ms = input.compute_ms;
  order.uneven_ms = busy_ms - comm_ms;
  const bool inside = LayoutServers(spec).colocated > 0;
  order.last_bucket_ms = fifo && !inside ? last.back_ms : 0;
  order.step_ms = order.compute_ms + busy_ms + order.last_bucket_ms;
  if (entry->traits.family == Family::kParameterServer && !entry->traits.synchronous()) {
    const double alone_ms = order.compute_ms + PushesMs(spec, input) + order.last_bucket_ms;
    if (alone_ms <= busy_ms) {
      order = {.step_ms = busy_ms, .uneven_ms = order.uneven_ms};
    } else {
      order.step_ms = alone_ms;
      order.uneven_ms = 0;
    }
  }
  const double behind_compute_ms = input.compute_ms + last.there_ms + last.back_ms;
  if (behind_compute_ms > order.step_ms) {
    order = {.step_ms = behind_compute_ms, .last_bucket_ms = last.there_ms + last.back_ms};
  }
  return order;
}

}  // namespace ringside

#include "experiments/job/step_order.h"

#include <algorithm>

#include "experiments/lab/network_plan.h"
#include "experiments/server_layout.h"
#include "experiments/strategy_table.h"

namespace ringside {
namespace {

bool HasEvenLinks(const RunSpec& spec) {
  return !spec.network || (spec.network->rates.empty() && spec.network->racks <= 1);
}

double LinkMs(const RunSpec& spec, double bytes) {
  return 1000 * bytes / GoodputBytesPerSecond(spec.link_bits_per_s);
}

/// What the last bucket needs alone.
struct LastBucket {
  double there_ms = 0;  ///< A ring: to be summed.
  double back_ms = 0;
};

/// From all workers to its server and back, over the server's link; a server that waits for nobody
/// answers each alone.
LastBucket LastBucketOf(const StrategyEntry& entry, const RunSpec& spec, const OrderInput& input,
                        double comm_ms) {
  if (entry.family == Family::kRing) return {.there_ms = comm_ms * input.last_bucket};
  if (!input.busiest_link_bytes || !HasEvenLinks(spec)) return {};
  const bool inside = LayoutServers(spec).colocated > 0;  // its own worker's stays there
  const double workers = entry.synchronous ? spec.workers - (inside ? 1 : 0) : 1;
  const double share = workers * input.last_bucket;
  return {.there_ms = LinkMs(spec, share * input.gradient_bytes),
          .back_ms = LinkMs(spec, share * input.parameter_bytes)};
}

/// What a worker pushes over its own link.
double PushesMs(const RunSpec& spec, const OrderInput& input) {
  const ServerLayout layout = LayoutServers(spec);
  const double inside = layout.colocated > 0 ? 1.0 / layout.total() : 0;
  return LinkMs(spec, (1 - inside) * input.gradient_bytes);
}

}  // namespace

std::optional<StepOrder> OrderOf(const RunSpec& spec, const StepBound& bound,
                                 const OrderInput& input) {
  const StrategyEntry* entry = FindStrategy(spec.strategy);
  if (entry == nullptr || !bound.comm_ms || *bound.comm_ms <= 0 || PeriodOf(spec) > 1) {
    return std::nullopt;
  }
  const double comm_ms = *bound.comm_ms;
  const bool fifo = spec.options.order == SendOrder::kFifo;
  const LastBucket last = LastBucketOf(*entry, spec, input, comm_ms);
  const double busy_ms = input.busiest_link_bytes && HasEvenLinks(spec)
                             ? std::max(comm_ms, LinkMs(spec, *input.busiest_link_bytes))
                             : comm_ms;
  StepOrder order;
  order.compute_ms = fifo ? input.forward_ms : 0;
  if (!spec.overlap) order.compute_ms = input.compute_ms;
  order.uneven_ms = busy_ms - comm_ms;
  const bool inside = LayoutServers(spec).colocated > 0;
  order.last_bucket_ms = fifo && !inside ? last.back_ms : 0;
  order.step_ms = order.compute_ms + busy_ms + order.last_bucket_ms;
  if (entry->family == Family::kParameterServer && !entry->synchronous) {
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

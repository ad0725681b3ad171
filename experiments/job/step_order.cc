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

/// Of the last bucket: its gradients from all workers to its server, or the answers back, over the
/// server's link. Asynchronous servers wait for nobody, and a worker may be alone.
double ServerMs(const StrategyEntry& entry, const RunSpec& spec, double bytes) {
  const bool dedicated = LayoutServers(spec).dedicated > 0;
  const double others = entry.synchronous ? spec.workers - (dedicated ? 0 : 1) : 1;
  return 1000 * others * bytes / GoodputBytesPerSecond(spec.link_bits_per_s);
}

}  // namespace

std::optional<StepOrder> OrderOf(const RunSpec& spec, const StepBound& bound,
                                 const OrderInput& input) {
  const StrategyEntry* entry = FindStrategy(spec.strategy);
  if (entry == nullptr || !bound.comm_ms || *bound.comm_ms <= 0 || PeriodOf(spec) > 1) {
    return std::nullopt;
  }
  const double comm_ms = *bound.comm_ms;
  double push_ms = entry->family == Family::kRing ? comm_ms * input.last_bucket : 0;
  double answers_ms = 0;
  double uneven_ms = 0;
  if (input.busiest_link && HasEvenLinks(spec)) {
    const double goodput = GoodputBytesPerSecond(spec.link_bits_per_s);
    push_ms = ServerMs(*entry, spec, input.last_bucket * input.gradient_bytes);
    answers_ms = ServerMs(*entry, spec, input.last_bucket * input.parameter_bytes);
    const double bytes = std::max(input.gradient_bytes, input.parameter_bytes);
    uneven_ms = std::max(0.0, 1000 * *input.busiest_link * bytes / goodput - comm_ms);
  }
  const bool fifo = spec.options.order == SendOrder::kFifo;
  StepOrder order;
  order.compute_ms = fifo ? input.forward_ms : 0;
  if (!spec.overlap) order.compute_ms = input.compute_ms;
  order.uneven_ms = uneven_ms;
  order.last_bucket_ms = fifo ? answers_ms : 0;
  order.step_ms = order.compute_ms + comm_ms + uneven_ms + order.last_bucket_ms;
  const double behind_compute_ms = input.compute_ms + push_ms + answers_ms;
  if (behind_compute_ms > order.step_ms) {
    order = {.step_ms = behind_compute_ms, .last_bucket_ms = push_ms + answers_ms};
  }
  return order;
}

}  // namespace ringside

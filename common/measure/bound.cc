#include "common/measure/bound.h"

#include <algorithm>
#include <bit>

#include "common/errors.h"

namespace ringside {
namespace {

/// `messages` one after the other, and `bytes` in each direction over the busiest link.
double Seconds(const CostInput& input, double messages, double bytes) {
  if (input.bytes_per_s <= 0) return 0;
  return messages * input.latency_s + bytes / input.bytes_per_s;
}

/// In each direction of a worker's link, with all `workers` taking part.
double ReduceScatterAllGatherBytes(int workers, double bytes) {
  return 2.0 * (workers - 1) / workers * bytes;
}

Cost DedicatedServerCost(const CostInput& input) {
  const double per_server = input.workers * input.bytes / input.servers;
  return {.seconds = Seconds(input, 2, std::max(input.bytes, per_server)),
          .bytes_sent_per_worker = input.bytes,
          .bytes_received_per_worker = input.bytes,
          .bytes_per_server = per_server};
}

Cost ColocatedServerCost(const CostInput& input) {
  // As a worker a host exchanges its gradient with S-1 other servers, as a server its shard with
  // N-1 other workers.
  const double busiest = (input.workers + input.servers - 2.0) * input.bytes / input.servers;
  const double messages = input.workers > 1 ? 2 : 0;
  return {.seconds = Seconds(input, messages, busiest),
          .bytes_sent_per_worker = busiest,
          .bytes_received_per_worker = busiest,
          .bytes_per_server = 0};
}

}  // namespace

Cost NoCost(const CostInput&) { return {}; }

Cost RingCost(const CostInput& input) {
  const double bytes = ReduceScatterAllGatherBytes(input.workers, input.bytes);
  return {.seconds = Seconds(input, 2.0 * (input.workers - 1), bytes),
          .bytes_sent_per_worker = bytes,
          .bytes_received_per_worker = bytes};
}

Cost HalvingDoublingCost(const CostInput& input) {
  const auto workers = static_cast<unsigned>(input.workers);
  const double rounds = 2.0 * (std::bit_width(workers) - 1);
  const double bytes =
      ReduceScatterAllGatherBytes(static_cast<int>(std::bit_floor(workers)), input.bytes);
  if (std::has_single_bit(workers)) {
    return {.seconds = Seconds(input, rounds, bytes),
            .bytes_sent_per_worker = bytes,
            .bytes_received_per_worker = bytes};
  }
  // Before, a worker beyond the power of two hands its vector to a partner; after, it gets the sum
  // back. Each direction of the partner's link carries one of the two, at different times.
  return {.seconds = Seconds(input, rounds + 2, bytes + 2 * input.bytes),
          .bytes_sent_per_worker = bytes + input.bytes,
          .bytes_received_per_worker = bytes + input.bytes};
}

Cost ParameterServerCost(const CostInput& input) {
  if (input.servers < 1) throw InternalError("bound of a parameter server without servers");
  return input.colocated ? ColocatedServerCost(input) : DedicatedServerCost(input);
}

}  // namespace ringside

#include "ringside/common/measure/bound.h"

#include <algorithm>
#include <bit>

#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

/// The time of `messages` one after the other, plus the time of `bytes` in each direction over the
/// busiest link.
double Seconds(const CostInput& input, double messages, double bytes) {
  if (input.bytes_per_s <= 0) return 0;
  return messages * input.latency_s + bytes / input.bytes_per_s;
}

/// The bytes that a worker sends, and the bytes that it receives, when all gradients are summed
/// once. Mean over the workers. Holds for every kind of all-reduce and for co-located servers.
double MeanBytes(const CostInput& input) {
  return 2.0 * (input.workers - 1) / input.workers * input.bytes;
}

double BytesPerServer(const CostInput& input) {
  return input.workers * input.bytes / input.servers;
}

double PullBytes(const CostInput& input) {
  return input.pull_bytes > 0 ? input.pull_bytes : input.bytes;
}

Cost DedicatedServerCost(const CostInput& input) {
  const double pull = PullBytes(input);
  // A worker's link carries its whole gradient. A server's link carries a share from every worker.
  const double shares = std::max(1.0, static_cast<double>(input.workers) / input.servers);
  return {.seconds = Seconds(input, 2, shares * std::max(input.bytes, pull)),
          .bytes_sent_per_worker = input.bytes,
          .bytes_received_per_worker = pull,
          .bytes_per_server = BytesPerServer(input)};
}

Cost ColocatedServerCost(const CostInput& input) {
  // A host exchanges its gradient with S-1 other servers, because it is a worker. It exchanges its
  // shard with N-1 other workers, because it is a server.
  const double pull = PullBytes(input);
  const double others = input.workers - 1.0;
  const double busiest = std::max(others * input.bytes + (input.servers - 1) * pull,
                                  others * pull + (input.servers - 1) * input.bytes);
  const double messages = input.workers > 1 ? 2 : 0;
  const double mean = others / input.workers * (input.bytes + pull);
  return {.seconds = Seconds(input, messages, busiest / input.servers),
          .bytes_sent_per_worker = mean,
          .bytes_received_per_worker = mean,
          .bytes_per_server = BytesPerServer(input)};
}

}  // namespace

Cost NoCost(const CostInput&) { return {}; }

Cost RingCost(const CostInput& input) {
  return {.seconds = Seconds(input, 2.0 * (input.workers - 1), MeanBytes(input)),
          .bytes_sent_per_worker = MeanBytes(input),
          .bytes_received_per_worker = MeanBytes(input)};
}

Cost GatherCost(const CostInput& input) {
  const double bytes = (input.workers - 1) * input.bytes;
  return {.seconds = Seconds(input, input.workers - 1, bytes),
          .bytes_sent_per_worker = bytes,
          .bytes_received_per_worker = bytes};
}

Cost HierarchicalCost(const CostInput& input) {
  const double hosts = input.hosts > 0 ? input.hosts : input.workers;
  const double of_host = 2 * (hosts - 1) / hosts * input.bytes;
  const double of_worker = of_host * hosts / input.workers;
  return {.seconds = Seconds(input, 2 * (hosts - 1), of_host),
          .bytes_sent_per_worker = of_worker,
          .bytes_received_per_worker = of_worker};
}

Cost HalvingDoublingCost(const CostInput& input) {
  const auto workers = static_cast<unsigned>(input.workers);
  const unsigned power = std::bit_floor(workers);
  double messages = 2.0 * (std::bit_width(workers) - 1);
  double busiest = 2.0 * (power - 1) / power * input.bytes;
  if (workers != power) {
    // A worker beyond the power of two first sends its vector to a partner, and gets the sum back
    // at the end. Each direction of the partner's link carries one of the two, at different times.
    messages += 2;
    busiest += 2 * input.bytes;
  }
  return {.seconds = Seconds(input, messages, busiest),
          .bytes_sent_per_worker = MeanBytes(input),
          .bytes_received_per_worker = MeanBytes(input)};
}

Cost RecursiveDoublingCost(const CostInput& input) {
  const auto workers = static_cast<unsigned>(input.workers);
  const unsigned power = std::bit_floor(workers);
  const unsigned folded = workers - power;
  const unsigned doublings = std::bit_width(workers) - 1U;
  const double steps = doublings + (folded > 0 ? 2 : 0);
  const double mean = (power * doublings + 2.0 * folded) / workers * input.bytes;
  return {.seconds = Seconds(input, steps, steps * input.bytes),
          .bytes_sent_per_worker = mean,
          .bytes_received_per_worker = mean};
}

Cost TreeCost(const CostInput& input) {
  // With four workers or more, some worker has a parent and two children in one tree, where it
  // moves 3/2 M, and is a leaf of the other tree.
  const double busiest = std::min(2.0, 0.5 * input.workers) * input.bytes;
  const double messages = 2.0 * (std::bit_width(static_cast<unsigned>(input.workers)) - 1);
  return {.seconds = Seconds(input, messages, input.workers > 1 ? busiest : 0),
          .bytes_sent_per_worker = MeanBytes(input),
          .bytes_received_per_worker = MeanBytes(input)};
}

Cost PeriodicRingCost(const CostInput& input) {
  const auto share = static_cast<double>(input.sync_every);
  Cost cost = RingCost(input);
  cost.seconds /= share;
  cost.bytes_sent_per_worker /= share;
  cost.bytes_received_per_worker /= share;
  return cost;
}

Cost MixedServerCost(const CostInput& input) {
  const double n = input.workers;
  const double k = input.servers;
  if (k >= n) return DedicatedServerCost(input);
  const double whole = n * n + k * n - 2 * k;
  const double own = (n - k) / whole;  // share of a worker's server
  const double pull = PullBytes(input);
  // A worker's link carries the bytes that the worker exchanges with the other servers, and its own
  // server with the other workers. A dedicated server's link carries a share from every worker.
  const double sent = (1 - own) * input.bytes + own * (n - 1) * pull;
  const double received = (1 - own) * pull + own * (n - 1) * input.bytes;
  const double dedicated = k > 0 ? 2 * n * (n - 1) / whole * std::max(input.bytes, pull) : 0;
  return {.seconds = Seconds(input, n > 1 ? 2 : 0, std::max({sent, received, dedicated})),
          .bytes_sent_per_worker = sent,
          .bytes_received_per_worker = received,
          .bytes_per_server = n * input.bytes / (n + k)};
}

Cost AllReduceCost(const CostInput& input) {
  const double messages = std::bit_width(static_cast<unsigned>(input.workers) - 1);
  return {.seconds = Seconds(input, messages, MeanBytes(input)),
          .bytes_sent_per_worker = MeanBytes(input),
          .bytes_received_per_worker = MeanBytes(input)};
}

Cost ParameterServerCost(const CostInput& input) {
  if (input.servers < 1) throw InternalError("bound of a parameter server without servers");
  return input.colocated ? ColocatedServerCost(input) : DedicatedServerCost(input);
}

}  // namespace ringside

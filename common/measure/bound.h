#ifndef RINGSIDE_COMMON_MEASURE_BOUND_H_
#define RINGSIDE_COMMON_MEASURE_BOUND_H_

#include <cstdint>

namespace ringside {

/// The input of a closed-form bound. Links are full duplex. Each worker host and each dedicated
/// server has one NIC.
struct CostInput {
  int workers = 1;
  int hosts = 0;  ///< Hosts with workers; 0: each worker has its own.
  int servers = 0;
  bool colocated = false;       ///< Server s shares worker s's NIC.
  double bytes = 0;             ///< M: gradients of one step, as sent.
  double pull_bytes = 0;        ///< Parameters of one step, sent back; 0: as many as gradients.
  double bytes_per_s = 0;       ///< B: goodput of a link; 0: none declared, so `seconds` is 0.
  double latency_s = 0;         ///< alpha: latency of one message.
  std::int64_t sync_every = 1;  ///< H: steps between two sums, for workers that step alone.
};

/// The least cost that theory allows for synchronising one step. The time is that of the busiest
/// link. Bytes are means over the workers, as in measurements. If workers step alone, both are
/// means over the steps between two sums.
struct Cost {
  double seconds = 0;
  double bytes_sent_per_worker = 0;  ///< To other hosts, including its co-located server's.
  double bytes_received_per_worker = 0;
  /// Gradients that a server receives and parameters that it sends. Includes those of a co-located
  /// worker.
  double bytes_per_server = 0;
};

Cost NoCost(const CostInput& input);
/// Ring: 2(N-1) alpha + 2(N-1)/N M/B (Patarasuk and Yuan, 2009).
Cost RingCost(const CostInput& input);
/// With P = 2^k, the largest power of two up to N: 2 k alpha + 2(P-1)/P M/B (Thakur, Rabenseifner
/// and Gropp, 2005). If N > P, one more step of M before and one after.
Cost HalvingDoublingCost(const CostInput& input);
/// With P = 2^k as above: k (alpha + M/B) (same source). If N > P, two more steps of M.
Cost RecursiveDoublingCost(const CostInput& input);
/// Double binary tree, pipelined: 2 floor(log2 N) alpha + 2 M/B (Sanders, Speck and Traeff, 2009).
/// With two workers the link carries only M, with three 3/2 M.
Cost TreeCost(const CostInput& input);
/// Every worker sends its gradients, M encoded bytes, to every other: (N-1)(alpha + M/B).
Cost GatherCost(const CostInput& input);
/// The cost of a ring every H steps.
Cost PeriodicRingCost(const CostInput& input);
/// The bound of every all-reduce: ceil(log2 N) alpha + 2(N-1)/N M/B. For libraries that choose the
/// algorithm themselves.
Cost AllReduceCost(const CostInput& input);
/// A ring of the H hosts over their links: 2(H-1) alpha + 2(H-1)/H M/B. Nothing inside a host is on
/// a wire.
Cost HierarchicalCost(const CostInput& input);
/// Push and pull stream at the same time, each as its own message. Dedicated servers:
/// 2 alpha + max(M/B, N M/(S B)); co-located: 2 alpha + (N+S-2) M/(S B). If pushes and pulls differ
/// in length, the busier direction of the busiest link counts. Throws `InternalError` without
/// servers.
Cost ParameterServerCost(const CostInput& input);

/// n workers, each with a co-located server, and k = `servers` < n dedicated servers. Buckets are
/// placed so that all links finish together (BytePS; Jiang et al., OSDI 2020): 2 alpha +
/// 2n(n-1)/(n^2+kn-2k) M/B. Pushes and pulls that differ in length count as above. With k >= n the
/// dedicated servers hold all buckets.
Cost MixedServerCost(const CostInput& input);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_MEASURE_BOUND_H_

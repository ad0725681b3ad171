#ifndef RINGSIDE_COMMON_MEASURE_BOUND_H_
#define RINGSIDE_COMMON_MEASURE_BOUND_H_

#include <cstdint>

namespace ringside {

/// What a closed-form bound needs to know. Links are full duplex, one NIC per worker host and per
/// dedicated server.
struct CostInput {
  int workers = 1;
  int hosts = 0;  ///< That the workers are dealt to; 0: each has its own.
  int servers = 0;
  bool colocated = false;  ///< Server s shares worker s's NIC.
  double bytes = 0;        ///< M: gradients of one step, as they travel.
  double pull_bytes = 0;   ///< Parameters of one step on their way back; 0: as many as gradients.
  double bytes_per_s = 0;  ///< B: goodput of a link; 0: no link is declared, `seconds` is then 0.
  double latency_s = 0;    ///< alpha: of one message.
  std::int64_t sync_every = 1;  ///< H: steps between two sums, where workers step alone.
};

/// The least that theory allows one step's synchronisation to cost. The time is that of the busiest
/// link; bytes are means over the workers, as they are measured. Where workers step alone both are
/// means over the steps between two sums.
struct Cost {
  double seconds = 0;
  double bytes_sent_per_worker = 0;  ///< To other hosts, by its co-located server too.
  double bytes_received_per_worker = 0;
  /// Gradients a server takes in (and parameters it gives out), a co-located worker's included.
  double bytes_per_server = 0;
};

Cost NoCost(const CostInput& input);
/// 2(N-1) alpha + 2(N-1)/N M/B (Patarasuk and Yuan, 2009).
Cost RingCost(const CostInput& input);
/// With P = 2^k the largest power of two up to N: 2 k alpha + 2(P-1)/P M/B (Thakur, Rabenseifner
/// and Gropp, 2005); where N > P, a step of M more before and after.
Cost HalvingDoublingCost(const CostInput& input);
/// With P = 2^k as above: k (alpha + M/B) (the same); where N > P, two steps of M more.
Cost RecursiveDoublingCost(const CostInput& input);
/// Double binary tree, pipelined: 2 floor(log2 N) alpha + 2 M/B, with less to carry in a world of
/// two (M) or three (3/2 M) (Sanders, Speck and Traeff, 2009).
Cost TreeCost(const CostInput& input);
/// Every worker's gradients to every other, M as they are encoded: (N-1)(alpha + M/B).
Cost GatherCost(const CostInput& input);
/// A ring's, every H steps.
Cost PeriodicRingCost(const CostInput& input);
/// No all-reduce of any kind can do better: ceil(log2 N) alpha + 2(N-1)/N M/B. For those that
/// choose their own algorithm.
Cost AllReduceCost(const CostInput& input);
/// Inside hosts nothing is on a wire; over each host's link a ring of the H hosts:
/// 2(H-1) alpha + 2(H-1)/H M/B.
Cost HierarchicalCost(const CostInput& input);
/// Push and pull streamed together, each a message of its own. Dedicated:
/// 2 alpha + max(M/B, N M/(S B)); co-located: 2 alpha + (N+S-2) M/(S B). Where pushes and pulls are
/// not equally long, the busier direction of the busiest link counts. Throws `InternalError`
/// without servers.
Cost ParameterServerCost(const CostInput& input);

/// n workers with a co-located server each and k = `servers` < n dedicated ones, buckets shared out
/// so that all links are done together (BytePS; Jiang et al., OSDI 2020): 2 alpha +
/// 2n(n-1)/(n^2+kn-2k) M/B; where pushes and pulls are not equally long, as above. From k = n on
/// the dedicated ones do it all.
Cost MixedServerCost(const CostInput& input);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_MEASURE_BOUND_H_

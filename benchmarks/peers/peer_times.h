#ifndef RINGSIDE_BENCHMARKS_PEERS_PEER_TIMES_H_
#define RINGSIDE_BENCHMARKS_PEERS_PEER_TIMES_H_

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace ringside {

/// The arguments of every peer of `ringside bench --peers`. All peers time as our own workers do:
/// the same warm-up, then the same operations back to back, with a clock reading after each.
struct PeerPlan {
  int warmup = 0;
  int iterations = 0;
  std::vector<std::size_t> sizes;  ///< Bytes.
};

/// Reads "WARMUP ITERATIONS SIZE...". `sizes` is empty when there are too few words.
inline PeerPlan ReadPeerPlan(int words, char** argv) {
  PeerPlan plan;
  if (words < 3) return plan;
  plan.warmup = std::atoi(argv[0]);
  plan.iterations = std::atoi(argv[1]);
  for (int i = 2; i < words; ++i) plan.sizes.push_back(std::strtoull(argv[i], nullptr, 10));
  return plan;
}

/// The microseconds of each timed operation on this rank, which has just passed a barrier.
template <typename Operation>
std::vector<double> PeerTimes(const PeerPlan& plan, const Operation& operation) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> times(static_cast<std::size_t>(plan.iterations));
  for (int i = 0; i < plan.warmup; ++i) operation();
  Clock::time_point begin = Clock::now();
  for (double& time : times) {
    operation();
    const Clock::time_point end = Clock::now();
    time = std::chrono::duration<double, std::micro>(end - begin).count();
    begin = end;
  }
  return times;
}

/// Prints one line for `ringside bench`. `times` are those of the slowest rank in each operation.
inline void PrintPeerTimes(std::size_t size, const double* times, int iterations) {
  std::printf("{\"size\":%zu,\"times_us\":[", size);
  for (int i = 0; i < iterations; ++i) std::printf("%s%.3f", i == 0 ? "" : ",", times[i]);
  std::printf("]}\n");
  std::fflush(stdout);
}

}  // namespace ringside

#endif  // RINGSIDE_BENCHMARKS_PEERS_PEER_TIMES_H_

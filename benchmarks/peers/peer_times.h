#ifndef RINGSIDE_BENCHMARKS_PEERS_PEER_TIMES_H_
#define RINGSIDE_BENCHMARKS_PEERS_PEER_TIMES_H_

#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "ringside/experiments/statistics/steady_warmup.h"

namespace ringside {

/// The arguments of every peer of `ringside bench --peers`. All peers time as our own workers do:
/// the same rule for the warm-up, then the same operations back to back, with a clock reading after
/// each.
struct PeerPlan {
  std::optional<int> warmup{};  ///< Empty: until steady.
  int iterations = 0;
  std::vector<std::size_t> sizes;  ///< Bytes.
};

/// Reads "WARMUP ITERATIONS SIZE...", where WARMUP is a number or "steady". `sizes` is empty when
/// there are too few words.
inline PeerPlan ReadPeerPlan(int words, char** argv) {
  PeerPlan plan;
  if (words < 3) return plan;
  if (std::strcmp(argv[0], "steady") != 0) plan.warmup = std::atoi(argv[0]);
  plan.iterations = std::atoi(argv[1]);
  for (int i = 2; i < words; ++i) plan.sizes.push_back(std::strtoull(argv[i], nullptr, 10));
  return plan;
}

/// What a rank measured at one size.
struct PeerResult {
  std::vector<double> times_us{};
  WarmupReport warmup;
};

/// Warms up and times on this rank, which has just passed a barrier. `slowest` is collective: it
/// replaces each value by the largest of all ranks.
template <typename Operation>
PeerResult PeerTimes(const PeerPlan& plan, const std::function<void(std::span<double>)>& slowest,
                     const Operation& operation) {
  using Clock = std::chrono::steady_clock;
  const auto time = [&] {
    const Clock::time_point begin = Clock::now();
    operation();
    return std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
  };
  PeerResult result{.warmup = WarmUp(plan.warmup, {.run = time, .slowest = slowest})};
  result.times_us.resize(static_cast<std::size_t>(plan.iterations));
  for (double& each : result.times_us) each = time();
  return result;
}

/// Prints one line for `ringside bench`. `times` are those of the slowest rank in each operation.
inline void PrintPeerTimes(std::size_t size, std::span<const double> times,
                           const WarmupReport& warmup) {
  std::printf("{\"size\":%zu,\"times_us\":[", size);
  for (std::size_t i = 0; i < times.size(); ++i) {
    std::printf("%s%.3f", i == 0 ? "" : ",", times[i]);
  }
  const char* steady = warmup.steady ? (*warmup.steady ? "true" : "false") : "null";
  std::printf("],\"warmup\":{\"operations\":%d,\"ms\":%.3f,\"steady\":%s}}\n", warmup.operations,
              warmup.ms, steady);
  std::fflush(stdout);
}

}  // namespace ringside

#endif  // RINGSIDE_BENCHMARKS_PEERS_PEER_TIMES_H_

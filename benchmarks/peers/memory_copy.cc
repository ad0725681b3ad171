// Every rank copies a vector of its own, all at once: 2NM bytes of memory traffic, which a sum in
// shared memory needs at least. A peer of `ringside bench --peers`.
// usage: peer-memory-copy RANKS WARMUP ITERATIONS SIZE...
#include <cstdlib>
#include <cstring>
#include <vector>

#include "benchmarks/peers/forked_ranks.h"
#include "benchmarks/peers/peer_times.h"

int main(int argc, char** argv) {
  const ringside::PeerPlan plan = ringside::ReadPeerPlan(argc - 2, argv + 2);
  if (plan.sizes.empty()) return 2;
  ringside::ForkedRanks ranks(std::atoi(argv[1]), plan.iterations);
  ranks.Fork();
  for (const std::size_t size : plan.sizes) {
    const std::vector<char> from(size, 1);
    std::vector<char> to(size, 0);
    ranks.Meet();
    const auto times = ringside::PeerTimes(plan, [&] {
      std::memcpy(to.data(), from.data(), size);
      asm volatile("" : : "r"(to.data()) : "memory");
    });
    ranks.Print(size, times);
  }
  return ranks.Join() ? 0 : 1;
}

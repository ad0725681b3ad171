// Times 2NM bytes of memory traffic, the least that a sum in shared memory needs. Two ways compete
// and the faster one counts. Every rank copies its vector to another vector, or it reads and writes
// its vector in place, which touches no more memory than the sum does. A peer of `ringside bench
// --peers`.
// usage: peer-memory-copy RANKS WARMUP ITERATIONS SIZE...
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <span>
#include <vector>

#include "benchmarks/peers/forked_ranks.h"
#include "benchmarks/peers/peer_times.h"
#include "ringside/common/base/memory_region.h"

namespace {

constexpr std::size_t kLineBytes = 64;
constexpr std::size_t kAheadBytes = 1024;
using Line = int __attribute__((vector_size(kLineBytes)));

/// Adds 1 to every int, going over two ranges at once, as a sum goes over two vectors. Writes all
/// that it reads.
__attribute__((target_clones("avx512f", "avx2", "default"))) void Rewrite(char* data,
                                                                          std::size_t size) {
  const std::size_t half = size / 2 / kLineBytes * kLineBytes;
  for (std::size_t i = 0; i < half; i += kLineBytes) {
    for (char* const at : {data + i, data + half + i}) {
      __builtin_prefetch(at + kAheadBytes);
      Line line;
      std::memcpy(&line, at, sizeof(line));
      line += 1;
      std::memcpy(at, &line, sizeof(line));
    }
  }
}

/// The rank's own time. Every rank decides alone which of the two ways was faster.
double Total(const std::vector<double>& times) {
  double total = 0;
  for (const double time : times) total += time;
  return total;
}

}  // namespace

int main(int argc, char** argv) {
  const ringside::PeerPlan plan = ringside::ReadPeerPlan(argc - 2, argv + 2);
  if (plan.sizes.empty()) return 2;
  ringside::ForkedRanks ranks(std::atoi(argv[1]), plan.iterations);
  ranks.Fork();
  for (const std::size_t size : plan.sizes) {
    // Uses the same memory as strategies' vectors: huge pages where they are available.
    const auto from = ringside::MemoryRegion::Ordinary(size);
    const auto to = ringside::MemoryRegion::Ordinary(size);
    char* const source = reinterpret_cast<char*>(from.data());
    char* const target = reinterpret_cast<char*>(to.data());
    std::memset(source, 1, size);
    std::memset(target, 1, size);
    ranks.Barrier();
    const auto slowest = [&](std::span<double> values) { ranks.Slowest(values); };
    const auto copied = ringside::PeerTimes(plan, slowest, [&] {
      std::memcpy(target, source, size);
      asm volatile("" : : "r"(target) : "memory");
    });
    ranks.Barrier();
    const auto rewritten = ringside::PeerTimes(plan, slowest, [&] { Rewrite(source, size); });
    const bool copy = Total(copied.times_us) < Total(rewritten.times_us);
    ranks.Print(size, copy ? copied : rewritten);
  }
  return ranks.Join() ? 0 : 1;
}

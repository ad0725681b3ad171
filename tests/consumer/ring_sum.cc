// Two ranks, threads of this process, add up what each brings through Ringside's ring over TCP.
// Prints "sum=3" and, of the backend for MPI, whether it was found.
#include <ringside/common/core/store.h>
#include <ringside/common/core/world.h>
#include <ringside/ring/algorithms/ring_algorithms.h>
#include <ringside/ring/backends/backend_library.h>
#include <ringside/ring/transports/gloo_collective.h>

#include <cstddef>
#include <cstring>
#include <iostream>
#include <span>
#include <thread>
#include <vector>

namespace {

constexpr int kRanks = 2;

ringside::World WorldOf(int rank) {
  ringside::World world;
  world.rank = world.local_rank = rank;
  world.workers = world.local_workers = kRanks;
  return world;
}

float SumOfAll(int rank, ringside::Store& store) {
  ringside::CommOptions comm;
  comm.token = "a secret of this job";
  ringside::GlooCollective ring(WorldOf(rank), store, comm, ringside::kRingAlgorithm, "sum");
  const float mine = static_cast<float>(rank + 1);
  float sum = 0;
  const std::vector<std::byte> all = ring.AllGather(std::as_bytes(std::span(&mine, 1)));
  for (std::size_t at = 0; at < all.size(); at += sizeof(float)) {
    float value = 0;
    std::memcpy(&value, all.data() + at, sizeof(value));
    sum += value;
  }
  return sum;
}

}  // namespace

int main() {
  ringside::InProcessStore store;
  std::vector<float> sums(kRanks);
  {
    std::vector<std::jthread> ranks;
    for (int rank = 0; rank < kRanks; ++rank) {
      ranks.emplace_back([&, rank] { sums[rank] = SumOfAll(rank, store); });
    }
  }
  if (sums[0] != sums[1]) return 1;
  std::cout << "sum=" << sums[0] << "\n";
  try {
    ringside::kMpiLibrary.Load();
    std::cout << "mpi=found\n";
  } catch (const std::exception& error) {
    std::cout << "mpi=" << error.what() << "\n";
  }
}

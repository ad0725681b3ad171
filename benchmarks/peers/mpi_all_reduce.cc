// Times MPI_Allreduce in place with the algorithm that the MPI library chooses. A peer of `ringside
// bench --peers`, built once for each MPI library.
// usage: mpiexec -n RANKS PROGRAM RANKS WARMUP ITERATIONS SIZE...
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <span>

#include "benchmarks/peers/peer_times.h"
#include "ringside/common/base/memory_region.h"

namespace {

void Slowest(std::span<double> values) {
  MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_MAX,
                MPI_COMM_WORLD);
}

void Measure(const ringside::PeerPlan& plan, std::size_t size, int rank) {
  // The memory that our own vectors have: huge pages where they are available.
  const auto memory = ringside::MemoryRegion::Ordinary(size);
  const std::span data(reinterpret_cast<float*>(memory.data()), size / sizeof(float));
  std::ranges::fill(data, 0.0F);
  MPI_Barrier(MPI_COMM_WORLD);
  ringside::PeerResult result = ringside::PeerTimes(plan, Slowest, [&] {
    MPI_Allreduce(MPI_IN_PLACE, data.data(), static_cast<int>(data.size()), MPI_FLOAT, MPI_SUM,
                  MPI_COMM_WORLD);
  });
  Slowest(result.times_us);
  if (rank == 0) ringside::PrintPeerTimes(size, result.times_us, result.warmup);
}

/// Checks the number of ranks: ranks that each run alone would look very fast.
bool RanksAre(int expected) {
  int ranks = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks != expected) std::printf("MPI counts %d ranks, not %d\n", ranks, expected);
  return ranks == expected;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const ringside::PeerPlan plan = ringside::ReadPeerPlan(argc - 2, argv + 2);
  const bool all_here = argc < 2 || RanksAre(std::atoi(argv[1]));
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (all_here) {
    for (const std::size_t size : plan.sizes) Measure(plan, size, rank);
  }
  MPI_Finalize();
  if (plan.sizes.empty()) return 2;
  return all_here ? 0 : 1;
}

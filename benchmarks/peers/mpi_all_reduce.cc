// MPI_Allreduce in place, with the algorithm that OpenMPI chooses: a peer of `ringside bench
// --peers`. usage: mpirun -np RANKS peer-openmpi WARMUP ITERATIONS SIZE...
#include <mpi.h>

#include <vector>

#include "benchmarks/peers/peer_times.h"

namespace {

void Measure(const ringside::PeerPlan& plan, std::size_t size, int rank) {
  std::vector<float> data(size / sizeof(float), 0.0F);
  MPI_Barrier(MPI_COMM_WORLD);
  const std::vector<double> own = ringside::PeerTimes(plan, [&] {
    MPI_Allreduce(MPI_IN_PLACE, data.data(), static_cast<int>(data.size()), MPI_FLOAT, MPI_SUM,
                  MPI_COMM_WORLD);
  });
  std::vector<double> slowest(own.size());
  MPI_Reduce(own.data(), slowest.data(), static_cast<int>(own.size()), MPI_DOUBLE, MPI_MAX, 0,
             MPI_COMM_WORLD);
  if (rank == 0) ringside::PrintPeerTimes(size, slowest.data(), plan.iterations);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const ringside::PeerPlan plan = ringside::ReadPeerPlan(argc - 1, argv + 1);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (const std::size_t size : plan.sizes) Measure(plan, size, rank);
  MPI_Finalize();
  return plan.sizes.empty() ? 2 : 0;
}

#ifndef RINGSIDE_BENCHMARKS_PUSH_PULL_SHARED_H_
#define RINGSIDE_BENCHMARKS_PUSH_PULL_SHARED_H_

#include <pthread.h>

#include <array>

namespace ringside::push_pull {

constexpr int kMaxProcesses = 64;

/// The data that the processes share, in a shared mapping.
struct Shared {
  pthread_barrier_t barrier;  // of the workers
  std::array<double, kMaxProcesses> finished_ms;
  std::array<double, kMaxProcesses> moved_by_server, received_by_server;  // bytes, over gRPC
  double copied_by_worker;
  double ours_ms, protobuf_ms, tcp_ms;  // ours: gRPC over TCP
  double ratio, cpu_ratio, tcp_ratio;   // ours to protobuf's, to bare TCP
  double uds_ratio, shm_ratio;          // to gRPC over TCP
};

/// Makes the mapping, which lives until the process ends. Throws `InternalError`.
Shared& MakeShared(int workers);

}  // namespace ringside::push_pull

#endif  // RINGSIDE_BENCHMARKS_PUSH_PULL_SHARED_H_

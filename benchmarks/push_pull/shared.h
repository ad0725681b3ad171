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
  double ours_ms, tcp_ms, protobuf_ms, sockets_ms;  // ours: over gRPC
  double ratio, cpu_ratio, sockets_ratio;           // ours to protobuf's, to bare sockets
  double tcp_to_sockets;                            // plain frames to bare sockets
  double tcp_ratio, uds_ratio, shm_ratio;           // of the other transports to gRPC
};

/// Makes the mapping, which lives until the process ends. Throws `InternalError`.
Shared& MakeShared(int workers);

}  // namespace ringside::push_pull

#endif  // RINGSIDE_BENCHMARKS_PUSH_PULL_SHARED_H_

#ifndef RINGSIDE_BENCHMARKS_PEERS_SOCKETS_PUSH_PULL_H_
#define RINGSIDE_BENCHMARKS_PEERS_SOCKETS_PUSH_PULL_H_

#include <cstddef>
#include <span>
#include <thread>
#include <vector>

namespace ringside {

/// The kernel's own time for push and pull over loopback TCP: a server that sends back every bucket
/// unchanged, as soon as all of it has come. Each worker has a connection and a thread. It sums and
/// updates nothing, so it is a lower bound and not a usable server.
class SocketsServer {
 public:
  /// `bytes` is the size of a push of all buckets.
  SocketsServer(int workers, std::size_t bytes, std::size_t bucket_bytes);
  /// Destroy it after the workers have closed.
  ~SocketsServer();
  int port() const { return port_; }

 private:
  int listener_ = -1;
  int port_ = 0;
  std::vector<std::jthread> threads_;
};

/// The worker of a `SocketsServer`. It sends on one thread while it receives on another.
class SocketsWorker {
 public:
  explicit SocketsWorker(int port);
  ~SocketsWorker();
  void Step(std::span<const float> gradients, std::span<float> parameters);

 private:
  int socket_ = -1;
};

}  // namespace ringside

#endif  // RINGSIDE_BENCHMARKS_PEERS_SOCKETS_PUSH_PULL_H_

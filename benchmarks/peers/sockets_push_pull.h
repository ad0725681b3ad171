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
  /// `bytes` is the size of a push of all its buckets.
  SocketsServer(int workers, std::size_t bytes, std::size_t bucket_bytes);
  /// Destroy it after the workers have closed.
  ~SocketsServer();
  int port() const { return port_; }

 private:
  int listener_ = -1;
  int port_ = 0;
  std::vector<std::jthread> threads_;
};

/// The worker of one or more `SocketsServer`s. Each server has a part of the vector. For each of
/// them it sends on one thread while it receives on another.
class SocketsWorker {
 public:
  struct Part {
    int port = 0;
    std::size_t begin = 0, size = 0;  ///< Elements of the vector.
  };

  explicit SocketsWorker(std::span<const Part> parts);
  ~SocketsWorker();
  void Step(std::span<const float> gradients, std::span<float> parameters);

 private:
  std::vector<Part> parts_;
  std::vector<int> sockets_;  // by part
};

}  // namespace ringside

#endif  // RINGSIDE_BENCHMARKS_PEERS_SOCKETS_PUSH_PULL_H_

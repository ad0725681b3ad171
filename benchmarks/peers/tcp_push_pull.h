#ifndef RINGSIDE_BENCHMARKS_PEERS_TCP_PUSH_PULL_H_
#define RINGSIDE_BENCHMARKS_PEERS_TCP_PUSH_PULL_H_

#include <cstddef>
#include <span>
#include <thread>
#include <vector>

namespace ringside {

/// What the kernel alone takes for a push and pull over loopback TCP: a server that sends back
/// every bucket as it came, as soon as it has come whole, a thread and a connection a worker.
/// Nothing is summed and nothing updated: a floor, not a server that could be used.
class TcpServer {
 public:
  /// `bytes`: of a push of all.
  TcpServer(int workers, std::size_t bytes, std::size_t bucket_bytes);
  /// Once the workers have gone.
  ~TcpServer();
  int port() const { return port_; }

 private:
  int listener_ = -1;
  int port_ = 0;
  std::vector<std::jthread> threads_;
};

/// Its worker: sends all on one thread while it receives on another.
class TcpWorker {
 public:
  explicit TcpWorker(int port);
  ~TcpWorker();
  void Step(std::span<const float> gradients, std::span<float> parameters);

 private:
  int socket_ = -1;
};

}  // namespace ringside

#endif  // RINGSIDE_BENCHMARKS_PEERS_TCP_PUSH_PULL_H_

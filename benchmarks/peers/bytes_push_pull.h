#ifndef RINGSIDE_BENCHMARKS_PEERS_BYTES_PUSH_PULL_H_
#define RINGSIDE_BENCHMARKS_PEERS_BYTES_PUSH_PULL_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string>

namespace ringside {

/// A plain parameter server with gRPC's generated code and callback API, and payloads in Protocol
/// Buffers. It sums the pushes of `workers` for a bucket, subtracts the sum from its parameters and
/// answers all workers with them.
class BytesServer {
 public:
  BytesServer(int workers, std::size_t elements, std::size_t bucket_elements);
  ~BytesServer();
  const std::string& endpoint() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

/// The worker of a `BytesServer`. It sends all buckets at once, then waits for all.
class BytesWorker {
 public:
  BytesWorker(int rank, const std::string& endpoint);
  ~BytesWorker();
  void Step(std::span<const float> gradients, std::span<float> parameters,
            std::size_t bucket_elements);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringside

#endif  // RINGSIDE_BENCHMARKS_PEERS_BYTES_PUSH_PULL_H_

#ifndef RINGSIDE_EXPERIMENTS_JOB_COORDINATOR_COORDINATOR_H_
#define RINGSIDE_EXPERIMENTS_JOB_COORDINATOR_COORDINATOR_H_

#include <chrono>
#include <memory>
#include <string>

#include "ringside/experiments/job/coordinator/job_state.h"

namespace ringside {

/// Serves a `JobState` to the processes of a job over gRPC. A waiting Get holds no thread. Calls
/// without the token are refused before their content is read. With certificates, connections
/// without one are closed before that. Keys, values and messages have size limits, and silent
/// connections have few descriptors (common/sockets/front_door.h). Serves from construction to
/// destruction, which ends waiting calls.
///
/// Destruction ends in time whatever becomes of gRPC. If gRPC is stuck, its threads are left alone
/// and keep the job state alive. `exit` then runs no destructors of static objects.
class Coordinator {
 public:
  struct Options {
    std::string address = "127.0.0.1";  ///< An IP address.
    int port = 0;                       ///< 0: any free one.
    /// If not empty, listens on this path, which processes in other network namespaces can reach.
    std::string socket_path{};
    std::string token{};
    /// Open at a time, over TCP. Anybody can connect. 0: half of the descriptors of the process, or
    /// more if the job has more members.
    std::size_t most_connections = 0;
    /// How long destruction waits for gRPC.
    std::chrono::milliseconds stop_grace{3'000};
    /// The directory of this host's certificates (`TlsFiles`). Empty: nothing is encrypted. A
    /// socket of `socket_path` never is, because the kernel alone carries its bytes.
    std::string tls{};
  };

  /// Throws `ConfigError` when it cannot listen there, or cannot use the certificates, and
  /// `ResourceError` when there is no thread.
  Coordinator(std::shared_ptr<JobState> job_state, const Options& options);
  ~Coordinator();
  Coordinator(const Coordinator&) = delete;
  Coordinator& operator=(const Coordinator&) = delete;

  /// Where clients connect: "127.0.0.1:41234", "[::1]:41234",
  /// "unix:/run/user/0/ringside/lab-7.sock".
  const std::string& target() const { return target_; }

 private:
  class Service;

  struct Impl;
  std::shared_ptr<Impl> impl_;  // shared with its thread that stops it
  std::string target_;
  std::chrono::milliseconds stop_grace_;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_COORDINATOR_COORDINATOR_H_

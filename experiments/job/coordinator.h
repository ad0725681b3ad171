#ifndef RINGSIDE_EXPERIMENTS_JOB_COORDINATOR_H_
#define RINGSIDE_EXPERIMENTS_JOB_COORDINATOR_H_

#include <memory>
#include <string>

#include "experiments/job/job_board.h"

namespace ringside {

/// Serves a `JobBoard` to the processes of a job, over gRPC. A waiting Get holds no thread. Calls
/// without the token are refused before anything of them is used; keys, values and messages are
/// capped. Borrows the board. Serves from construction until destruction, which ends waiting calls.
class Coordinator {
 public:
  struct Options {
    std::string address = "127.0.0.1";  ///< An IP address.
    int port = 0;                       ///< 0: any free one.
    /// Not empty: listens on this path instead, which processes in other network namespaces reach.
    std::string socket_path{};
    std::string token{};
  };

  /// Throws `ConfigError` when it cannot listen there.
  Coordinator(JobBoard& board, const Options& options);
  ~Coordinator();

  /// Where clients connect: "127.0.0.1:41234", "[::1]:41234",
  /// "unix:/run/user/0/ringside/lab-7.sock".
  const std::string& target() const { return target_; }

 private:
  class Service;

  struct Hidden;
  std::unique_ptr<Hidden> hidden_;
  std::string target_;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_COORDINATOR_H_

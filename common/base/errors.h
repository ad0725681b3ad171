#ifndef RINGSIDE_COMMON_BASE_ERRORS_H_
#define RINGSIDE_COMMON_BASE_ERRORS_H_

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

namespace ringside {

/// Every error that Ringside throws on purpose is one of the types below. Code inside throws them;
/// only `main`, thread entries and RPC handlers catch them. A background thread keeps its
/// `std::exception_ptr` and the next call of its owner rethrows it.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The command line is wrong (exit code 2).
class UsageError : public Error {
 public:
  using Error::Error;
};

/// A value, a key or a combination in a specification is wrong (exit code 3). The message starts
/// with `file:line:column:` where the value came from a file.
class ConfigError : public Error {
 public:
  using Error::Error;
};

/// A certificate is refused: that of another process by this one, or that of this process by the
/// other one.
class CertificateError : public ConfigError {
 public:
  /// `peer` is the other process, as for `CommError`.
  CertificateError(std::string peer, const std::string& reason);

  const std::string& peer() const { return peer_; }

 private:
  std::string peer_;
};

/// A strategy, model or tool needs something this build or machine lacks (exit code 4).
class MissingBackendError : public Error {
 public:
  using Error::Error;
};

/// Another process failed to answer: it is killed, unreachable, late, or breaks the protocol.
class CommError : public Error {
 public:
  /// `peer` is for people: "worker 2", "server 0", "coordinator 127.0.0.1:4711". `operation` names
  /// the failed operation: "all-reduce of bucket 3, step 17".
  CommError(std::string peer, std::string operation, const std::string& reason);

  const std::string& peer() const { return peer_; }
  const std::string& operation() const { return operation_; }
  /// What is not finite, if the peer refused for that reason (`DivergedError::problem`). Otherwise
  /// empty.
  const std::string& divergence() const { return divergence_; }
  void set_divergence(std::string problem) { divergence_ = std::move(problem); }
  /// Why, without the peer and the operation: for an error that names them itself.
  const std::string& reason() const { return reason_; }

 private:
  std::string peer_;
  std::string operation_;
  std::string divergence_;
  std::string reason_;
};

/// A data file is missing or damaged. `offset` is in bytes from the start of the file; 0 if the
/// problem has no place in the file.
class DataError : public Error {
 public:
  DataError(std::string path, std::int64_t offset, const std::string& expected);
  DataError(std::string path, const std::string& problem);

  const std::string& path() const { return path_; }
  std::int64_t offset() const { return offset_; }

 private:
  std::string path_;
  std::int64_t offset_;
};

/// A loss or a gradient is no longer finite: the run ends as "diverged".
class DivergedError : public Error {
 public:
  DivergedError(int rank, std::int64_t step, double loss);
  /// `problem`: "the gradient that update 8 applies to parameter 12 is inf".
  explicit DivergedError(const std::string& problem, int rank = -1, std::int64_t step = -1);

  const std::string& problem() const { return problem_; }
  /// The worker whose value it is; -1: unknown, or a sum of all.
  int rank() const { return rank_; }
  /// -1: unknown.
  std::int64_t step() const { return step_; }

 private:
  std::string problem_;
  int rank_;
  std::int64_t step_;
};

/// Workers whose parameters must be equal have different ones.
class ReplicasDifferError : public Error {
 public:
  /// `difference`: "worker 2 has other parameters than workers 0, 1 and 3".
  ReplicasDifferError(std::int64_t steps_done, const std::string& difference);
};

/// What the system says of this errno, and the limit that may be behind it, if there is one: "Too
/// many open files (the limit of descriptors: ulimit -n)".
std::string ShortageText(int error);

/// The machine, or a limit of this process, gives no further descriptor, thread, process or memory
/// (exit code 1).
class ResourceError : public Error {
 public:
  /// `wanted`: "a thread", "a pipe to a child". `error` is the errno; the message says which limit
  /// it may be.
  ResourceError(const std::string& wanted, int error);
};

/// The program of the user's that is the model of a run has failed, or calls Ringside wrongly.
class ProgramError : public Error {
 public:
  using Error::Error;
};

/// A broken invariant of our own.
class InternalError : public Error {
 public:
  using Error::Error;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_BASE_ERRORS_H_

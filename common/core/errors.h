#ifndef RINGSIDE_COMMON_CORE_ERRORS_H_
#define RINGSIDE_COMMON_CORE_ERRORS_H_

#include <cstdint>
#include <stdexcept>
#include <string>

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

 private:
  std::string peer_;
  std::string operation_;
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

/// The loss is no longer a finite number: the run ends as "diverged".
class DivergedError : public Error {
 public:
  DivergedError(int rank, std::int64_t step, double loss);

  int rank() const { return rank_; }
  std::int64_t step() const { return step_; }

 private:
  int rank_;
  std::int64_t step_;
};

/// A broken invariant of our own.
class InternalError : public Error {
 public:
  using Error::Error;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_CORE_ERRORS_H_

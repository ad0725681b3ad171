#include "ringside/common/base/errors.h"

#include <cerrno>
#include <cstring>
#include <utility>

namespace ringside {
namespace {

const char* LimitBehind(int error) {
  switch (error) {
    case EMFILE:
      return " (the limit of descriptors: ulimit -n)";
    case EAGAIN:
      return " (a limit of processes, ulimit -u or pids.max of a control group; for a thread also "
             "ulimit -v)";
    case ENOMEM:
      return " (memory, or its limit: ulimit -v)";
    default:
      return "";
  }
}

}  // namespace

std::string ShortageText(int error) {
  return std::string(std::strerror(error)) + LimitBehind(error);
}

CertificateError::CertificateError(std::string peer, const std::string& reason)
    : ConfigError(peer + ": " + reason), peer_(std::move(peer)) {}

CommError::CommError(std::string peer, std::string operation, const std::string& reason)
    : Error(operation + " with " + peer + " failed: " + reason),
      peer_(std::move(peer)),
      operation_(std::move(operation)),
      reason_(reason) {}

DataError::DataError(std::string path, std::int64_t offset, const std::string& expected)
    : Error(path + ": at byte " + std::to_string(offset) + ": " + expected),
      path_(std::move(path)),
      offset_(offset) {}

DataError::DataError(std::string path, const std::string& problem)
    : Error(path + ": " + problem), path_(std::move(path)), offset_(0) {}

DivergedError::DivergedError(int rank, std::int64_t step, double loss)
    : DivergedError("the loss of worker " + std::to_string(rank) + " is " + std::to_string(loss) +
                        " at step " + std::to_string(step),
                    rank, step) {}

DivergedError::DivergedError(const std::string& problem, int rank, std::int64_t step)
    : Error("diverged: " + problem), problem_(problem), rank_(rank), step_(step) {}

ReplicasDifferError::ReplicasDifferError(std::int64_t steps_done, const std::string& difference)
    : Error("replicas differ after " + std::to_string(steps_done) + " steps: " + difference) {}

ResourceError::ResourceError(const std::string& wanted, int error)
    : Error("the system gives no room for " + wanted + ": " + ShortageText(error)) {}

}  // namespace ringside

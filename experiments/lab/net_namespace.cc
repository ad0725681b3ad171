#include "experiments/lab/net_namespace.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "common/errors.h"

namespace ringside {
namespace {

constexpr char kOwnNamespace[] = "/proc/thread-self/ns/net";

FileDescriptor OpenOwn() {
  FileDescriptor own(::open(kOwnNamespace, O_RDONLY | O_CLOEXEC));
  if (own.get() < 0) throw InternalError(std::string(kOwnNamespace) + ": " + std::strerror(errno));
  return own;
}

// Going on in another's namespace would be worse than ending.
void GoBack(int fd) noexcept {
  if (::setns(fd, CLONE_NEWNET) == 0) return;
  std::perror("cannot return to the own network namespace");
  std::abort();
}

}  // namespace

NetNamespace NetNamespace::Make() {
  const FileDescriptor before = OpenOwn();
  if (::unshare(CLONE_NEWNET) != 0) {
    throw MissingBackendError(std::string("a network namespace cannot be made: ") +
                              std::strerror(errno));
  }
  const int made = ::open(kOwnNamespace, O_RDONLY | O_CLOEXEC);
  const int error = errno;
  GoBack(before.get());
  if (made < 0) throw InternalError(std::string(kOwnNamespace) + ": " + std::strerror(error));
  return NetNamespace(FileDescriptor(made));
}

std::string NetNamespace::path() const {
  return "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(fd());
}

NamespaceScope::NamespaceScope(int fd) {
  if (fd < 0) return;
  before_ = OpenOwn();
  if (::setns(fd, CLONE_NEWNET) != 0) {
    throw InternalError(std::string("cannot enter a network namespace: ") + std::strerror(errno));
  }
}

NamespaceScope::~NamespaceScope() {
  if (before_.get() >= 0) GoBack(before_.get());
}

}  // namespace ringside

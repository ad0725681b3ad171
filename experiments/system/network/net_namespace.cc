#include "ringside/experiments/system/network/net_namespace.h"

#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/system/files/files.h"

namespace ringside {
namespace {

constexpr char kOwnNamespace[] = "/proc/thread-self/ns/net";

FileDescriptor OpenOwn() {
  FileDescriptor own(::open(kOwnNamespace, O_RDONLY | O_CLOEXEC));
  if (own.get() < 0) throw InternalError(std::string(kOwnNamespace) + ": " + std::strerror(errno));
  return own;
}

// Brings up loopback in this thread's namespace. Jobs without an emulated network need it.
bool RaiseLoopback() {
  const FileDescriptor any(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq loopback{};
  loopback.ifr_name[0] = 'l';
  loopback.ifr_name[1] = 'o';
  loopback.ifr_flags = IFF_UP;
  return ::ioctl(any.get(), SIOCSIFFLAGS, &loopback) == 0;
}

// Ends the process if it cannot return: continuing in the wrong namespace would be worse.
void GoBack(int fd) noexcept {
  if (::setns(fd, CLONE_NEWNET) == 0) return;
  std::perror("cannot return to the original network namespace");
  std::abort();
}

std::string MoveIntoUserNamespace() {
  const uid_t user = ::getuid();
  const gid_t group = ::getgid();
  // Also makes a network namespace, because the process cannot go back into one from outside.
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0) {
    return std::string("a user namespace cannot be made: ") + std::strerror(errno);
  }
  const auto write = [](const char* path, const std::string& text) {
    const FileDescriptor file(::open(path, O_WRONLY | O_CLOEXEC));
    return file.get() >= 0 &&
           ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
  };
  // The kernel requires this before a group is mapped.
  const bool mapped = write("/proc/self/setgroups", "deny") &&
                      write("/proc/self/uid_map", "0 " + std::to_string(user) + " 1\n") &&
                      write("/proc/self/gid_map", "0 " + std::to_string(group) + " 1\n");
  if (!mapped) return std::string("a user namespace cannot be mapped: ") + std::strerror(errno);
  return RaiseLoopback() ? "" : std::string("its loopback cannot be used: ") + std::strerror(errno);
}

/// The result of `action` in a child of this process, which must have no other threads.
std::string InChild(std::string (*action)()) {
  std::array<int, 2> fds;
  if (::pipe2(fds.data(), O_CLOEXEC) != 0) {
    return std::string("it cannot be tried: ") + std::strerror(errno);
  }
  const FileDescriptor read(fds[0]);
  FileDescriptor write(fds[1]);
  const pid_t child = ::fork();
  if (child < 0) return std::string("it cannot be tried: ") + std::strerror(errno);
  if (child == 0) {
    const std::string answer = action();
    const ssize_t written = ::write(write.get(), answer.data(), answer.size());
    ::_exit(written == static_cast<ssize_t>(answer.size()) ? 0 : 1);
  }
  write.Close();
  constexpr std::size_t kMaxAnswer = 4096;
  std::string answer = ReadDescriptor(read.get(), kMaxAnswer, "a child's answer");
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (answer.empty() && status != 0) return "a child that tried it did not come back";
  return answer;
}

std::string SettingPath(const std::string& name) { return "/proc/sys/net/" + name; }

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

std::string EnterUserNamespace() {
  // A move that fails half-way cannot be undone, so a child tries it first.
  const std::string reason = InChild(MoveIntoUserNamespace);
  return reason.empty() ? MoveIntoUserNamespace() : reason;
}

// The kernel answers for the network namespace of the thread that opens the file.
void NetNamespace::SetKernelSetting(const std::string& name, const std::string& value) const {
  const NamespaceScope inside(fd());
  const std::string path = SettingPath(name);
  const FileDescriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  // The kernel takes a setting whole or not at all.
  if (file.get() >= 0 && ::write(file.get(), value.data(), value.size()) >= 0) return;
  throw MissingBackendError(path + " cannot be set to " + value + ": " + std::strerror(errno));
}

std::string NetNamespace::KernelSetting(const std::string& name) const {
  const NamespaceScope inside(fd());
  const std::string path = SettingPath(name);
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  std::array<char, 1024> text;
  const ssize_t count = file.get() < 0 ? -1 : ::read(file.get(), text.data(), text.size());
  if (count < 0) throw MissingBackendError(path + " cannot be read: " + std::strerror(errno));
  const std::string_view line(text.data(), static_cast<std::size_t>(count));
  return std::string(line.substr(0, line.find('\n')));
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

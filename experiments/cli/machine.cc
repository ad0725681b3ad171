#include "experiments/cli/machine.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <filesystem>

namespace ringside {
namespace {

namespace fs = std::filesystem;

// Enters a new network namespace; the caller is a child that ends soon.
bool EnterNamespace(NamespaceAccess access) {
  const int flags = access == NamespaceAccess::kRoot ? CLONE_NEWNET : CLONE_NEWUSER | CLONE_NEWNET;
  return ::unshare(flags) == 0;
}

// Runs `body` in a child and returns whether that exits with 0. `body` may only make system calls.
template <typename F>
bool InChild(const F& body) {
  const pid_t child = ::fork();
  if (child < 0) return false;
  if (child == 0) ::_exit(body() ? 0 : 1);
  int status = 0;
  if (::waitpid(child, &status, 0) != child) return false;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

int UsableCores() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (::sched_getaffinity(0, sizeof(cores), &cores) != 0) return 1;
  return CPU_COUNT(&cores);
}

std::uint64_t MemoryBytes() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long size = ::sysconf(_SC_PAGESIZE);
  if (pages < 0 || size < 0) return 0;
  return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(size);
}

std::uint64_t FileSystemBytes(const std::string& path) {
  struct statvfs status {};
  if (::statvfs(path.c_str(), &status) != 0) return 0;
  return static_cast<std::uint64_t>(status.f_blocks) * status.f_frsize;
}

std::string ExecutableDirectory() {
  std::error_code ignored;
  return fs::read_symlink("/proc/self/exe", ignored).parent_path().string();
}

NamespaceAccess TryNetworkNamespace() {
  for (const NamespaceAccess access : {NamespaceAccess::kRoot, NamespaceAccess::kUserNamespace}) {
    if (InChild([access] { return EnterNamespace(access); })) return access;
  }
  return NamespaceAccess::kNone;
}

bool TryTokenBucket(NamespaceAccess access, const std::string& tc) {
  if (access == NamespaceAccess::kNone || tc.empty()) return false;
  return InChild([&] {
    if (!EnterNamespace(access)) return false;
    const int null = ::open("/dev/null", O_RDWR);
    if (null < 0) return false;
    ::dup2(null, STDOUT_FILENO);
    ::dup2(null, STDERR_FILENO);
    ::execl(tc.c_str(), "tc", "qdisc", "add", "dev", "lo", "root", "tbf", "rate", "1gbit", "burst",
            "64kb", "latency", "10ms", static_cast<char*>(nullptr));
    return false;
  });
}

}  // namespace ringside

#include "ringside/experiments/cli/machine.h"

#include <sys/statvfs.h>
#include <unistd.h>

#include <filesystem>

namespace ringside {
namespace {

namespace fs = std::filesystem;

}  // namespace

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

}  // namespace ringside

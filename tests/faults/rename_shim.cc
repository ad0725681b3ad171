// A library to preload: a process is killed when it has written and synced a checkpoint, and has
// not given the file its name yet.
//
// The variable RINGSIDE_FAULT_RENAME says at which checkpoint of the process, counted from 1. Only
// worker 0 writes checkpoints of the whole job (step-N.ckpt). The file that the variable
// RINGSIDE_FAULT_ONCE names gets the name that the killed process had given to the temporary file.
// Where it exists already, nobody is killed.
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace {

using RenameAt = int (*)(int, const char*, int, const char*);

RenameAt RealRenameAt() {
  static const auto real = reinterpret_cast<RenameAt>(dlsym(RTLD_NEXT, "renameat"));
  return real;
}

/// Whether it is step-N.ckpt. A worker's own part is step-N.worker-R.ckpt.
bool IsCheckpoint(std::string_view name) {
  constexpr std::string_view kPrefix = "step-";
  constexpr std::string_view kSuffix = ".ckpt";
  if (!name.starts_with(kPrefix) || !name.ends_with(kSuffix)) return false;
  name.remove_prefix(kPrefix.size());
  return name.find_first_not_of("0123456789") == name.size() - kSuffix.size();
}

/// Whether this checkpoint of the process is the one that is asked for.
bool IsMeant() {
  static std::atomic<int> checkpoints = 0;
  const char* meant = std::getenv("RINGSIDE_FAULT_RENAME");
  return meant != nullptr && ++checkpoints == std::atoi(meant);
}

/// Writes down the name of the temporary file. Returns false if a process has been killed before.
bool Claim(const char* temporary) {
  const char* path = std::getenv("RINGSIDE_FAULT_ONCE");
  if (path == nullptr) return true;
  const int file = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
  if (file < 0) return false;
  const std::size_t length = std::strlen(temporary);
  const bool written = write(file, temporary, length) == static_cast<ssize_t>(length);
  close(file);
  return written;
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): the C library's name
extern "C" int renameat(int from_folder, const char* from, int to_folder, const char* to) {
  if (IsCheckpoint(to) && IsMeant() && Claim(from)) raise(SIGKILL);
  return RealRenameAt()(from_folder, from, to_folder, to);
}

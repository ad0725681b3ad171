// A library to preload: a process is killed when it has written and synced a checkpoint, and has
// not given the file its name yet.
//
// The variable RINGSIDE_FAULT_RENAME says at which checkpoint of the process, counted from 1. Only
// worker 0 writes checkpoints of the whole job (step-N.ckpt). With the variable
// RINGSIDE_FAULT_RENAME_PARTS, workers' own parts (step-N.worker-R.ckpt) count instead. The file
// that the variable RINGSIDE_FAULT_ONCE names gets the name that the killed process had given to
// the temporary file. Where it exists already, nobody is killed.
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

/// Whether it is a file of the kind that counts.
bool IsCheckpoint(std::string_view name) {
  const bool is_part = name.find(".worker-") != std::string_view::npos;
  const bool parts_count = std::getenv("RINGSIDE_FAULT_RENAME_PARTS") != nullptr;
  return name.starts_with("step-") && name.ends_with(".ckpt") && is_part == parts_count;
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

#include "ringside/experiments/system/files/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "ringside/common/base/errors.h"
#include "ringside/common/base/file_descriptor.h"
#include "ringside/common/base/regular_file.h"
#include "ringside/experiments/system/files/trusted_path.h"

namespace ringside {
namespace {

[[noreturn]] void Throw(const std::string& path, const std::string& action) {
  throw DataError(path, "cannot " + action + ": " + std::strerror(errno));
}

}  // namespace

void WriteDescriptor(int fd, std::span<const std::byte> data, const std::string& path) {
  while (!data.empty()) {
    const ssize_t written = ::write(fd, data.data(), data.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) Throw(path, "write");
    data = data.subspan(static_cast<std::size_t>(written));
  }
}

void WriteFileAtomically(const std::string& path, std::span<const std::span<const std::byte>> parts,
                         int mode, Umask umask) {
  const auto [directory, name] = FindTrustedPlace(path);
  const std::string temporary = name + ".tmp" + std::to_string(::getpid());
  // A file of that name was left by a process that was killed and had this one's id.
  ::unlinkat(directory.get(), temporary.c_str(), 0);
  const FileDescriptor fd(::openat(directory.get(), temporary.c_str(),
                                   O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
  if (fd.get() < 0) Throw(path, "create a temporary file beside it");
  try {
    if (umask == Umask::kIgnored && ::fchmod(fd.get(), static_cast<mode_t>(mode)) != 0) {
      Throw(path, "set the mode of a temporary file beside it");
    }
    for (const auto part : parts) WriteDescriptor(fd.get(), part, path);
    if (::fsync(fd.get()) != 0) Throw(path, "sync");
    if (::renameat(directory.get(), temporary.c_str(), directory.get(), name.c_str()) != 0) {
      Throw(path, "rename a temporary file to it");
    }
  } catch (...) {
    ::unlinkat(directory.get(), temporary.c_str(), 0);
    throw;
  }
  if (!SyncDirectory(directory.get())) Throw(path, "sync the directory of it");
}

void WriteFileAtomically(const std::string& path, std::string_view content, int mode, Umask umask) {
  const std::array parts{std::as_bytes(std::span(content))};
  WriteFileAtomically(path, parts, mode, umask);
}

std::string ReadDescriptor(int fd, std::size_t max_bytes, const std::string& name) {
  std::string content;
  std::array<char, 65536> buffer;
  while (true) {
    const ssize_t count = ::read(fd, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) Throw(name, "read");
    if (count == 0) return content;
    if (content.size() + static_cast<std::size_t>(count) > max_bytes) {
      throw DataError(
          name, static_cast<std::int64_t>(max_bytes),
          "expected the end: it may be no longer than " + std::to_string(max_bytes) + " bytes");
    }
    content.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

std::string ReadFile(const std::string& path, std::size_t max_bytes) {
  return RegularFile(path).ReadAll(max_bytes);
}

std::string ReadNamedFile(const std::string& path, std::size_t max_bytes) {
  const FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_NOCTTY | O_CLOEXEC));
  if (fd.get() < 0) Throw(path, "open");
  return ReadDescriptor(fd.get(), max_bytes, path);
}

void SyncFiles(const std::string& directory) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    if (entry.is_symlink() || !entry.is_regular_file()) continue;
    const std::string path = entry.path().string();
    const FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (fd.get() < 0 || ::fsync(fd.get()) != 0) Throw(path, "sync");
    if (entry.path().parent_path() != directory) {
      const FileDescriptor parent(
          ::open(entry.path().parent_path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
      if (parent.get() < 0 || !SyncDirectory(parent.get())) Throw(path, "sync the directory of it");
    }
  }
}

}  // namespace ringside

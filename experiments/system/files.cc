#include "ringside/experiments/system/files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "ringside/common/core/errors.h"
#include "ringside/common/core/file_descriptor.h"

namespace ringside {
namespace {

[[noreturn]] void Throw(const std::string& path, std::int64_t offset, const std::string& action) {
  throw DataError(path, offset, "cannot " + action + ": " + std::strerror(errno));
}

void WriteAll(int fd, std::span<const std::byte> data, const std::string& path,
              std::int64_t& offset) {
  while (!data.empty()) {
    const ssize_t written = ::write(fd, data.data(), data.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) Throw(path, offset, "write");
    data = data.subspan(static_cast<std::size_t>(written));
    offset += written;
  }
}

void SyncDirectory(const std::string& path) {
  const auto parent = std::filesystem::path(path).parent_path();
  const std::string directory = parent.empty() ? "." : parent.string();
  const FileDescriptor fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // Some file systems cannot sync a directory. There a rename is only as durable as the file system
  // makes it.
  if (fd.get() >= 0) ::fsync(fd.get());
}

}  // namespace

void WriteFileAtomically(const std::string& path, std::span<const std::span<const std::byte>> parts,
                         int mode) {
  const std::string temporary = path + ".tmp" + std::to_string(::getpid());
  FileDescriptor fd(
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, mode));
  if (fd.get() < 0) Throw(temporary, 0, "create");
  try {
    std::int64_t offset = 0;
    for (const auto part : parts) WriteAll(fd.get(), part, temporary, offset);
    if (::fsync(fd.get()) != 0) Throw(temporary, offset, "sync");
    if (::rename(temporary.c_str(), path.c_str()) != 0) Throw(path, 0, "rename to it");
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
  SyncDirectory(path);
}

void WriteFileAtomically(const std::string& path, std::string_view content, int mode) {
  const std::array parts{std::as_bytes(std::span(content))};
  WriteFileAtomically(path, parts, mode);
}

std::string ReadDescriptor(int fd, std::size_t max_bytes, const std::string& name) {
  std::string content;
  std::array<char, 65536> buffer;
  while (true) {
    const ssize_t count = ::read(fd, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) Throw(name, static_cast<std::int64_t>(content.size()), "read");
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
  const FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (fd.get() < 0) Throw(path, 0, "open");
  return ReadDescriptor(fd.get(), max_bytes, path);
}

void SyncFiles(const std::string& directory) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(directory)) {
    if (entry.is_symlink() || !entry.is_regular_file()) continue;
    const std::string path = entry.path().string();
    const FileDescriptor fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (fd.get() < 0 || ::fsync(fd.get()) != 0) Throw(path, 0, "sync");
    if (entry.path().parent_path() != directory) SyncDirectory(path);
  }
}

void MakeDirectories(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) throw ConfigError(path + ": cannot create the directory: " + error.message());
}

}  // namespace ringside

#include "common/memory_region.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "common/errors.h"

namespace ringside {
namespace {

std::string ErrnoText() { return std::strerror(errno); }

std::byte* Map(std::size_t bytes, int flags, int fd) {
  if (bytes == 0) return nullptr;
  void* address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);
  return address == MAP_FAILED ? nullptr : static_cast<std::byte*>(address);
}

std::string SharedMemoryShortage(const std::string& name, std::size_t bytes) {
  struct statvfs stats {};
  std::string left = "an unknown amount";
  if (statvfs("/dev/shm", &stats) == 0)
    left = std::to_string(stats.f_bavail * stats.f_frsize) + " bytes";
  return "shared memory " + name + " needs " + std::to_string(bytes) + " bytes, /dev/shm has " +
         left + " left: " + ErrnoText();
}

}  // namespace

MemoryRegion MemoryRegion::Ordinary(std::size_t bytes) {
  std::byte* data = Map(bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1);
  if (data == nullptr && bytes > 0) {
    throw InternalError("no memory for " + std::to_string(bytes) + " bytes: " + ErrnoText());
  }
  // Gradients and parameters are swept front to back every step: huge pages spare the TLB. Advice
  // may be ignored.
  if (data != nullptr) madvise(data, bytes, MADV_HUGEPAGE);
  return MemoryRegion(data, bytes, "");
}

MemoryRegion MemoryRegion::CreateShared(const std::string& name, std::size_t bytes) {
  const int fd = shm_open(name.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
  if (fd < 0)
    throw MissingBackendError("shared memory " + name + " cannot be created: " + ErrnoText());
  // posix_fallocate, not ftruncate: a /dev/shm that is too small fails here instead of by SIGBUS at
  // first touch.
  errno = bytes > 0 ? posix_fallocate(fd, 0, static_cast<off_t>(bytes)) : 0;
  std::byte* data = errno == 0 ? Map(bytes, MAP_SHARED, fd) : nullptr;
  const std::string shortage =
      data == nullptr && bytes > 0 ? SharedMemoryShortage(name, bytes) : "";
  close(fd);
  if (!shortage.empty()) {
    shm_unlink(name.c_str());
    throw MissingBackendError(shortage);
  }
  return MemoryRegion(data, bytes, name);
}

MemoryRegion MemoryRegion::AttachShared(const std::string& name, std::size_t bytes) {
  const int fd = shm_open(name.c_str(), O_RDWR | O_CLOEXEC, 0);
  if (fd < 0) throw CommError("the owner of " + name, "attaching shared memory", ErrnoText());
  struct stat stats {};
  const bool fits = fstat(fd, &stats) == 0 && static_cast<std::size_t>(stats.st_size) == bytes;
  std::byte* data = fits ? Map(bytes, MAP_SHARED, fd) : nullptr;
  close(fd);
  if (!fits || (data == nullptr && bytes > 0)) {
    throw CommError(
        "the owner of " + name, "attaching shared memory",
        "it has " + std::to_string(stats.st_size) + " bytes, expected " + std::to_string(bytes));
  }
  return MemoryRegion(data, bytes, "");
}

MemoryRegion::MemoryRegion(std::byte* data, std::size_t bytes, std::string unlink_name)
    : data_(data), bytes_(bytes), unlink_name_(std::move(unlink_name)) {}

MemoryRegion::MemoryRegion(MemoryRegion&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)),
      unlink_name_(std::exchange(other.unlink_name_, {})) {}

MemoryRegion& MemoryRegion::operator=(MemoryRegion&& other) noexcept {
  if (this != &other) {
    Release();
    data_ = std::exchange(other.data_, nullptr);
    bytes_ = std::exchange(other.bytes_, 0);
    unlink_name_ = std::exchange(other.unlink_name_, {});
  }
  return *this;
}

MemoryRegion::~MemoryRegion() { Release(); }

void MemoryRegion::Release() noexcept {
  if (data_ != nullptr) munmap(data_, bytes_);
  if (!unlink_name_.empty()) shm_unlink(unlink_name_.c_str());
  data_ = nullptr;
}

}  // namespace ringside

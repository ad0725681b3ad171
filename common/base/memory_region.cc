#include "ringside/common/base/memory_region.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <functional>
#include <utility>
#include <vector>

#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

constexpr std::size_t kPage = 4096;
constexpr const char* kAttaching = "attaching shared memory";

std::string ErrnoText() { return std::strerror(errno); }

/// Address space for `bytes` that starts where a huge page may start; null, with errno set, when
/// there is none.
std::byte* ReserveAligned(std::size_t bytes) {
  constexpr std::size_t kHugePage = std::size_t{2} << 20;
  if (bytes > SIZE_MAX - kHugePage) {
    errno = ENOMEM;
    return nullptr;
  }
  void* range = mmap(nullptr, bytes + kHugePage, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) return nullptr;
  auto* const begin = static_cast<std::byte*>(range);
  const std::size_t before = -reinterpret_cast<std::uintptr_t>(begin) % kHugePage;
  const std::size_t pages = (bytes + kPage - 1) / kPage * kPage;
  if (before > 0) munmap(begin, before);
  munmap(begin + before + pages, bytes + kHugePage - before - pages);
  return begin + before;
}

/// Null when there are no bytes, and, with errno set, when they cannot be mapped.
std::byte* Map(std::size_t bytes, int flags, int file) {
  std::byte* const place = bytes == 0 ? nullptr : ReserveAligned(bytes);
  if (place == nullptr) return nullptr;
  if (mmap(place, bytes, PROT_READ | PROT_WRITE, flags | MAP_FIXED, file, 0) == MAP_FAILED) {
    munmap(place, bytes);
    return nullptr;
  }
  // Every step goes through gradients and parameters front to back, so huge pages save TLB misses.
  // The kernel may ignore the advice.
  madvise(place, bytes, MADV_HUGEPAGE);
  return place;
}

/// Causes the page faults now and not in the first steps. Kernels before 5.14 fault later.
void Populate(std::byte* data, std::size_t bytes) {
#ifdef MADV_POPULATE_WRITE
  if (data != nullptr) madvise(data, bytes, MADV_POPULATE_WRITE);
#endif
}

/// Most systems give shared memory small pages, whatever the advice. From Linux 6.1 on, small pages
/// can be combined afterwards. Processes that attach later get the huge pages.
void MakePagesHuge(std::byte* data, std::size_t bytes) {
#ifdef MADV_COLLAPSE
  constexpr int kCollapse = MADV_COLLAPSE;
#else
  constexpr int kCollapse = 25;  // glibc 2.36 does not know it yet
#endif
  madvise(data, bytes, kCollapse);
}

struct stat StatOf(int file) {
  struct stat stats {};
  if (fstat(file, &stats) == 0) return stats;
  throw InternalError("fstat of shared memory failed: " + ErrnoText());
}

/// Distinguishes regions even if a process id or descriptor is used again.
std::string IdentityOf(const struct stat& stats) {
  return std::to_string(stats.st_dev) + "." + std::to_string(stats.st_ino);
}

std::size_t FreeIn(const std::string& directory) {
  struct statvfs stats {};
  return statvfs(directory.c_str(), &stats) == 0 ? stats.f_bavail * stats.f_frsize : 0;
}

/// One source of shared memory.
struct Source {
  std::string name;
  std::size_t bytes_left;
  std::function<int()> open;
};

std::vector<Source> SourcesOf(const SharedMemorySources& options, const std::string& label) {
  std::vector<Source> sources;
  if (options.anonymous) {
    sources.push_back({"the machine", AvailableMemory(),
                       [label] { return memfd_create(label.c_str(), MFD_CLOEXEC); }});
  }
  if (!options.directory.empty()) {
    sources.push_back({options.directory, FreeIn(options.directory), [options] {
                         return open(options.directory.c_str(),
                                     O_TMPFILE | O_EXCL | O_RDWR | O_CLOEXEC, 0600);
                       }});
  }
  return sources;
}

/// Sizes and maps the file. Returns null, with errno set, when there is too little memory. So the
/// error comes here and not as a SIGBUS at the first access.
std::byte* Reserve(int file, std::size_t bytes) {
  if (fchmod(file, 0600) != 0 || ftruncate(file, static_cast<off_t>(bytes)) != 0) return nullptr;
  std::byte* data = Map(bytes, MAP_SHARED, file);
  if (data == nullptr) return nullptr;
  Populate(data, bytes);
  errno = posix_fallocate(file, 0, static_cast<off_t>(bytes));
  if (errno == 0) {
    MakePagesHuge(data, bytes);
    return data;
  }
  munmap(data, bytes);
  return nullptr;
}

}  // namespace

std::size_t AvailableMemory() {
  std::ifstream info("/proc/meminfo");
  std::string key;
  for (std::size_t kibibytes = 0; info >> key >> kibibytes; info.ignore(16, '\n')) {
    if (key == "MemAvailable:") return kibibytes << 10;
  }
  return 0;
}

MemoryRegion MemoryRegion::Ordinary(std::size_t bytes) {
  std::byte* data = Map(bytes, MAP_PRIVATE | MAP_ANONYMOUS, -1);
  const int error = errno;
  if (data == nullptr && bytes > 0) {
    throw ResourceError(std::to_string(bytes) + " bytes of memory", error);
  }
  Populate(data, bytes);
  return {data, bytes};
}

MemoryRegion MemoryRegion::CreateShared(const std::string& label, std::size_t bytes,
                                        const SharedMemorySources& sources) {
  std::string shortage = "shared memory " + label + " needs " + std::to_string(bytes) + " bytes";
  for (const Source& source : SourcesOf(sources, label)) {
    shortage += "; " + source.name + " has " + std::to_string(source.bytes_left) + " bytes left";
    if (bytes > source.bytes_left) continue;
    const int file = source.open();
    std::byte* data = file >= 0 ? Reserve(file, bytes) : nullptr;
    if (file >= 0 && (data != nullptr || bytes == 0)) {
      MemoryRegion region(data, bytes);
      region.file_ = file;
      region.handle_ = "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(file) + "#" +
                       IdentityOf(StatOf(file));
      return region;
    }
    shortage += " but gives none: " + ShortageText(errno);
    if (file >= 0) close(file);
  }
  throw MissingBackendError(shortage);
}

MemoryRegion MemoryRegion::AttachShared(const std::string& handle, std::size_t bytes) {
  const std::string owner = "the owner of " + handle;
  const std::size_t mark = handle.rfind('#');
  const int file = open(handle.substr(0, mark).c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) throw CommError(owner, kAttaching, ErrnoText());
  struct stat stats {};
  if (fstat(file, &stats) != 0) {
    const std::string reason = ErrnoText();
    close(file);
    throw CommError(owner, kAttaching, reason);
  }
  const bool same = mark != std::string::npos && handle.substr(mark + 1) == IdentityOf(stats);
  const bool fits = same && static_cast<std::size_t>(stats.st_size) == bytes;
  std::byte* data = fits ? Map(bytes, MAP_SHARED, file) : nullptr;
  const int error = errno;
  close(file);
  if (!same) throw CommError(owner, kAttaching, "it is gone");
  if (!fits) {
    throw CommError(
        owner, kAttaching,
        "it has " + std::to_string(stats.st_size) + " bytes, expected " + std::to_string(bytes));
  }
  if (data == nullptr && bytes > 0) {
    throw ResourceError(std::to_string(bytes) + " bytes of shared memory", error);
  }
  Populate(data, bytes);
  return {data, bytes};
}

void MemoryRegion::Share(const std::string& label) {
  if (!handle_.empty() || bytes_ == 0) return;
  MemoryRegion shared = CreateShared(label, bytes_);
  std::memcpy(shared.data_, data_, bytes_);
  if (mremap(shared.data_, bytes_, bytes_, MREMAP_MAYMOVE | MREMAP_FIXED, data_) == MAP_FAILED) {
    throw InternalError("memory cannot be moved: " + ErrnoText());
  }
  shared.data_ = std::exchange(data_, nullptr);  // where the shared pages are mapped now
  *this = std::move(shared);
}

MemoryRegion::MemoryRegion(MemoryRegion&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)),
      file_(std::exchange(other.file_, -1)),
      handle_(std::exchange(other.handle_, {})) {}

MemoryRegion& MemoryRegion::operator=(MemoryRegion&& other) noexcept {
  if (this != &other) {
    Release();
    data_ = std::exchange(other.data_, nullptr);
    bytes_ = std::exchange(other.bytes_, 0);
    file_ = std::exchange(other.file_, -1);
    handle_ = std::exchange(other.handle_, {});
  }
  return *this;
}

MemoryRegion::~MemoryRegion() { Release(); }

void MemoryRegion::Release() noexcept {
  if (data_ != nullptr) munmap(data_, bytes_);
  if (file_ >= 0) close(file_);
  data_ = nullptr;
  file_ = -1;
}

}  // namespace ringside

#ifndef RINGSIDE_COMMON_MEMORY_REGION_H_
#define RINGSIDE_COMMON_MEMORY_REGION_H_

#include <cstddef>
#include <string>

namespace ringside {

enum class MemoryKind {
  kOrdinary,  ///< Private to the process.
  kShared,    ///< POSIX shared memory that other workers of the host can attach to by name.
};

/// Owns a zeroed, page-aligned range of memory. Movable. Thread safety: none needed, the range
/// never moves.
class MemoryRegion {
 public:
  MemoryRegion() = default;
  /// Throws `InternalError` when the memory cannot be had.
  static MemoryRegion Ordinary(std::size_t bytes);
  /// Creates `name` ("/ringside-JOB-RANK"), mode 0600; the name is unlinked when the creator goes.
  /// Throws `MissingBackendError` that says how much is needed and how much /dev/shm has left.
  static MemoryRegion CreateShared(const std::string& name, std::size_t bytes);
  /// Maps a region that another process created. Throws `CommError` when it is not there or of
  /// another size.
  static MemoryRegion AttachShared(const std::string& name, std::size_t bytes);

  MemoryRegion(MemoryRegion&& other) noexcept;
  MemoryRegion& operator=(MemoryRegion&& other) noexcept;
  MemoryRegion(const MemoryRegion&) = delete;
  MemoryRegion& operator=(const MemoryRegion&) = delete;
  ~MemoryRegion();

  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }

 private:
  MemoryRegion(std::byte* data, std::size_t bytes, std::string unlink_name);
  void Release() noexcept;

  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  std::string unlink_name_;  // empty unless this process created the name
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_MEMORY_REGION_H_

#ifndef RINGSIDE_COMMON_CORE_MEMORY_REGION_H_
#define RINGSIDE_COMMON_CORE_MEMORY_REGION_H_

#include <cstddef>
#include <string>

namespace ringside {

enum class MemoryKind {
  kOrdinary,  ///< Private to the process.
  kShared,    ///< Other workers of the host can attach to it.
};

/// Where shared memory may come from, in the order of preference.
struct SharedMemorySources {
  bool anonymous = true;               ///< Of the kernel, up to the memory of the machine.
  std::string directory = "/dev/shm";  ///< A file without a name in this memory file system.
};

/// Owns a zeroed, page-aligned range of memory. Movable. Thread safety: none needed, the range
/// never moves.
class MemoryRegion {
 public:
  MemoryRegion() = default;
  /// Throws `InternalError` when the memory cannot be had.
  static MemoryRegion Ordinary(std::size_t bytes);
  /// Memory that processes of this user may attach to as long as the region lives. It has no name
  /// in any file system, so the kernel frees it with its last user, whatever kills that. `label`
  /// names it in errors. Throws `MissingBackendError` that says how much is needed and how much
  /// every source has left.
  static MemoryRegion CreateShared(const std::string& label, std::size_t bytes,
                                   const SharedMemorySources& sources = {});
  /// Maps the region of this or another process that has such a `handle`. Throws `CommError` when
  /// it is gone, out of reach or of another size.
  static MemoryRegion AttachShared(const std::string& handle, std::size_t bytes);

  /// Moves private memory and what it holds to shared memory at the same address, so pointers stay
  /// valid. Nobody else may touch it meanwhile. Shared memory stays as it is. Errors:
  /// `CreateShared`.
  void Share(const std::string& label);

  MemoryRegion(MemoryRegion&& other) noexcept;
  MemoryRegion& operator=(MemoryRegion&& other) noexcept;
  MemoryRegion(const MemoryRegion&) = delete;
  MemoryRegion& operator=(const MemoryRegion&) = delete;
  ~MemoryRegion();

  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  /// The handle for `AttachShared`, passed on through the job's store; empty unless this process
  /// created the region as a shared one.
  const std::string& handle() const { return handle_; }

 private:
  MemoryRegion(std::byte* data, std::size_t bytes) : data_(data), bytes_(bytes) {}
  void Release() noexcept;

  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
  int file_ = -1;  // kept open by the creator: others find it through /proc
  std::string handle_;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_CORE_MEMORY_REGION_H_

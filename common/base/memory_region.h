#ifndef RINGSIDE_COMMON_BASE_MEMORY_REGION_H_
#define RINGSIDE_COMMON_BASE_MEMORY_REGION_H_

#include <cstddef>
#include <string>

namespace ringside {

/// How many bytes of memory the machine can still give; 0: unknown.
std::size_t AvailableMemory();

enum class MemoryKind {
  kOrdinary,  ///< Private to the process.
  kShared,    ///< Other workers of the host can attach to it.
};

/// Where shared memory may come from, in the order of preference.
struct SharedMemorySources {
  bool anonymous = true;               ///< Kernel memory, limited by the memory of the machine.
  std::string directory = "/dev/shm";  ///< A file without a name in this memory file system.
};

/// Owns a zeroed, page-aligned range of memory. Movable. Needs no thread safety: the range never
/// moves.
class MemoryRegion {
 public:
  MemoryRegion() = default;
  /// Throws `ResourceError` when there is not enough memory.
  static MemoryRegion Ordinary(std::size_t bytes);
  /// Memory that other processes of this user may attach to as long as the region lives. It has no
  /// name in any file system, so the kernel frees it when its last user ends, also after a kill.
  /// `label` names it in errors. Throws `MissingBackendError` that says how much is needed and how
  /// much each source has left.
  static MemoryRegion CreateShared(const std::string& label, std::size_t bytes,
                                   const SharedMemorySources& sources = {});
  /// Maps the region of this or another process, given its `handle()`. Throws `CommError` when the
  /// region is gone, cannot be reached or has another size, and `ResourceError` when this process
  /// has no room for it.
  static MemoryRegion AttachShared(const std::string& handle, std::size_t bytes);

  /// Moves private memory and its content to shared memory at the same address, so that pointers
  /// stay valid. No other thread may use it during the move. Does nothing to shared memory. Errors:
  /// as `CreateShared`.
  void Share(const std::string& label);

  MemoryRegion(MemoryRegion&& other) noexcept;
  MemoryRegion& operator=(MemoryRegion&& other) noexcept;
  MemoryRegion(const MemoryRegion&) = delete;
  MemoryRegion& operator=(const MemoryRegion&) = delete;
  ~MemoryRegion();

  std::byte* data() const { return data_; }
  std::size_t bytes() const { return bytes_; }
  /// The handle for `AttachShared`, which ranks exchange through the job's store. Empty unless this
  /// process created the region as a shared one.
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

#endif  // RINGSIDE_COMMON_BASE_MEMORY_REGION_H_

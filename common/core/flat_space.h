#ifndef RINGSIDE_COMMON_CORE_FLAT_SPACE_H_
#define RINGSIDE_COMMON_CORE_FLAT_SPACE_H_

#include <cstddef>
#include <span>
#include <string>

#include "ringside/common/base/memory_region.h"

namespace ringside {

/// The flat parameter vector and the flat gradient vector of one worker, which have the same
/// length. A model's tensors are views into them, in the order of its `Model::Tensors()`. Buckets
/// are views too, so nothing is copied on the way to a strategy.
///
/// Ownership: owns the memory, which never moves or grows. Views stay valid as long as the
/// FlatSpace lives. Thread safety: none of its own. `Strategy::Submit` and `Await` decide who may
/// use a bucket's spans.
class FlatSpace {
 public:
  /// `elements` floats each, all zero, in memory that is private to this process.
  explicit FlatSpace(std::size_t elements);
  /// The same in shared memory: parameters first, then gradients, each starting on a new page.
  /// Errors call the memory `label`.
  FlatSpace(std::size_t elements, const std::string& label);
  /// The shared space of this or another process, given its `shared_handle()`. Throws `CommError`
  /// when the space cannot be reached or has another number of elements.
  static FlatSpace Attach(std::size_t elements, const std::string& shared_handle);

  std::size_t size() const { return elements_; }
  std::span<float> params() const { return {Floats(0), elements_}; }
  std::span<float> grads() const { return {Floats(stride_bytes_), elements_}; }
  MemoryKind memory_kind() const { return kind_; }
  /// All memory: both vectors and the gap between them.
  std::span<std::byte> memory() const { return {region_.data(), region_.bytes()}; }
  /// Where the gradients begin in that memory, in bytes. The parameters begin at 0.
  std::size_t grads_offset_bytes() const { return stride_bytes_; }
  /// Moves a private space into shared memory, where it lies: views stay valid. Nobody else may
  /// touch it meanwhile. Throws `MissingBackendError` when there is too little shared memory.
  void Share(const std::string& label);
  /// The handle for `Attach`; empty unless this process created the space in shared memory.
  const std::string& shared_handle() const { return region_.handle(); }

 private:
  FlatSpace(std::size_t elements, MemoryKind kind, MemoryRegion region);
  float* Floats(std::size_t offset_bytes) const;

  std::size_t elements_;
  std::size_t stride_bytes_;  // from the first parameter to the first gradient
  MemoryKind kind_;
  MemoryRegion region_;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_CORE_FLAT_SPACE_H_

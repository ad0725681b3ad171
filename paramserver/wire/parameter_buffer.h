#ifndef RINGSIDE_PARAMSERVER_WIRE_PARAMETER_BUFFER_H_
#define RINGSIDE_PARAMSERVER_WIRE_PARAMETER_BUFFER_H_

#include <atomic>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

namespace ringside {

/// A counted reference to parameters that replies may point into. A transport may need the bytes of
/// a reply even after the end of the server that sent it. So the buffer lives as long as its last
/// reference.
///
/// Thread safety: references may be copied and dropped on any thread. The writer calls
/// `exclusive()` first. True means that every other reference has been dropped and all reads
/// through them are over. (A `shared_ptr` cannot promise that, because its use count is read
/// without ordering.)
class ParameterRef {
 public:
  ParameterRef() = default;
  /// A new buffer of zeros.
  explicit ParameterRef(std::size_t elements) : buffer_(new Buffer(elements)) {}
  ParameterRef(const ParameterRef& other) : buffer_(other.buffer_) {
    if (buffer_ != nullptr) buffer_->references.fetch_add(1, std::memory_order_relaxed);
  }
  ParameterRef(ParameterRef&& other) noexcept : buffer_(std::exchange(other.buffer_, nullptr)) {}
  ParameterRef& operator=(ParameterRef other) noexcept {
    std::swap(buffer_, other.buffer_);
    return *this;
  }
  ~ParameterRef() {
    if (buffer_ == nullptr) return;
    if (buffer_->references.fetch_sub(1, std::memory_order_acq_rel) == 1) delete buffer_;
  }

  /// Gives up the reference as a plain pointer, which `Drop` must release.
  void* Detach() && { return std::exchange(buffer_, nullptr); }
  static void Drop(void* detached) {
    ParameterRef dropped;
    dropped.buffer_ = static_cast<Buffer*>(detached);
  }

  std::span<const float> values() const { return buffer_->values; }
  /// For the writer only, while `exclusive()` is true.
  std::span<float> mutable_values() { return buffer_->values; }
  bool exclusive() const { return buffer_->references.load(std::memory_order_acquire) == 1; }

 private:
  struct Buffer {
    explicit Buffer(std::size_t elements) : values(elements) {}
    std::atomic<int> references{1};
    std::vector<float> values;
  };

  Buffer* buffer_ = nullptr;
};

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_WIRE_PARAMETER_BUFFER_H_

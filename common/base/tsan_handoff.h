#ifndef RINGSIDE_COMMON_BASE_TSAN_HANDOFF_H_
#define RINGSIDE_COMMON_BASE_TSAN_HANDOFF_H_

#include <atomic>

namespace ringside {

/// Tells ThreadSanitizer that gRPC passes an object from one thread to another. gRPC synchronises
/// that inside a library that ThreadSanitizer cannot see. Call `Pass` before gRPC gets the object,
/// and `Take` when it comes back. Without these calls, false reports would hide real races.
class TsanHandoff {
 public:
  void Pass() { turns_.fetch_add(1, std::memory_order_release); }
  void Take() { turns_.load(std::memory_order_acquire); }

 private:
  std::atomic<unsigned> turns_{0};
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_BASE_TSAN_HANDOFF_H_

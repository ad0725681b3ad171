#ifndef RINGSIDE_PARAMSERVER_HANDOVER_H_
#define RINGSIDE_PARAMSERVER_HANDOVER_H_

#include <atomic>

namespace ringside {

/// An object goes through gRPC from one thread to another. gRPC orders that, but inside a library
/// that ThreadSanitizer cannot see into; this says the same where it can: `Pass` before gRPC gets
/// the object, `Take` when it comes back. Without it every real race would drown in false ones.
class Handover {
 public:
  void Pass() { turns_.fetch_add(1, std::memory_order_release); }
  void Take() { turns_.load(std::memory_order_acquire); }

 private:
  std::atomic<unsigned> turns_{0};
};

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_HANDOVER_H_

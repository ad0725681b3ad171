#include "ringside/common/base/fault_point.h"

#ifdef RINGSIDE_FAULT_POINTS

#include <atomic>

namespace ringside {
namespace {

std::atomic<FaultHook> fault_hook{nullptr};

}  // namespace

void SetFaultHook(FaultHook hook) { fault_hook = hook; }

void CallFaultHook(const FaultSite& site) {
  if (const FaultHook hook = fault_hook.load(std::memory_order_relaxed); hook != nullptr) {
    hook(site);
  }
}

}  // namespace ringside

#endif

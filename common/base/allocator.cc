#include "ringside/common/base/allocator.h"

#include <cstdlib>  // defines __GLIBC__

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace ringside {

void KeepFreedMemory() {
#ifdef __GLIBC__
  constexpr int kTrimAbove = 1 << 30;
  constexpr int kMapAbove = 32 << 20;  // the most that glibc accepts
  constexpr int kGrowBy = 16 << 20;
  mallopt(M_TRIM_THRESHOLD, kTrimAbove);
  mallopt(M_MMAP_THRESHOLD, kMapAbove);
  mallopt(M_TOP_PAD, kGrowBy);
#endif
}

}  // namespace ringside

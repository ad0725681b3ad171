#include "benchmarks/push_pull/shared.h"

#include <sys/mman.h>

#include "ringside/common/base/errors.h"

namespace ringside::push_pull {

Shared& MakeShared(int workers) {
  void* memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw InternalError("no shared memory");
  auto* shared = new (memory) Shared();
  pthread_barrierattr_t attributes;
  pthread_barrierattr_init(&attributes);
  pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_barrier_init(&shared->barrier, &attributes, static_cast<unsigned>(workers));
  return *shared;
}

}  // namespace ringside::push_pull

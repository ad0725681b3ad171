#ifndef RINGSIDE_COMMON_BASE_ALLOCATOR_H_
#define RINGSIDE_COMMON_BASE_ALLOCATOR_H_

namespace ringside {

/// Makes the C library keep freed memory. Otherwise it would return the memory to the kernel and
/// fault it in again at the next step, because transports and models free and allocate the same
/// megabytes in every step. `main` calls this first, in workers and servers of *every* strategy, so
/// that the strategy stays the only difference between runs. Does nothing if the C library has no
/// such setting.
void KeepFreedMemory();

}  // namespace ringside

#endif  // RINGSIDE_COMMON_BASE_ALLOCATOR_H_

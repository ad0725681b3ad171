#ifndef RINGSIDE_COMMON_CORE_ALLOCATOR_H_
#define RINGSIDE_COMMON_CORE_ALLOCATOR_H_

namespace ringside {

/// Tells the C library to keep freed memory instead of handing it back to the kernel and faulting
/// it in again at the next step: transports and models free and allocate the same megabytes every
/// step. For `main`, first thing, in workers and servers of *every* strategy alike, or runs differ
/// in more than the strategy. Does nothing where the C library has no such switch.
void KeepFreedMemory();

}  // namespace ringside

#endif  // RINGSIDE_COMMON_CORE_ALLOCATOR_H_

#ifndef RINGSIDE_COMMON_CORE_VECTOR_CLONES_H_
#define RINGSIDE_COMMON_CORE_VECTOR_CLONES_H_

/// Marks a loop over flat spans that is compiled for several instruction sets, the best of which is
/// chosen when the program starts. Element-wise IEEE operations and -ffp-contract=off make all of
/// them agree bitwise; a loop that reduces keeps its own fixed lanes to the same end.
#if defined(__x86_64__) && !defined(RINGSIDE_NO_TARGET_CLONES)
#define RINGSIDE_VECTOR_CLONES __attribute__((target_clones("default", "avx2", "avx512f")))
#else
#define RINGSIDE_VECTOR_CLONES
#endif

#endif  // RINGSIDE_COMMON_CORE_VECTOR_CLONES_H_

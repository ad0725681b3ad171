#ifndef RINGSIDE_COMMON_BASE_VECTOR_CLONES_H_
#define RINGSIDE_COMMON_BASE_VECTOR_CLONES_H_

/// Marks a loop over flat spans that is compiled for several instruction sets. The program chooses
/// the best one when it starts. All of them give the same bits, because the loops use element-wise
/// IEEE operations and -ffp-contract=off. A loop that reduces uses a fixed number of lanes for the
/// same reason.
#if defined(__x86_64__) && !defined(RINGSIDE_NO_TARGET_CLONES)
#define RINGSIDE_VECTOR_CLONES __attribute__((target_clones("default", "avx2", "avx512f")))
#else
#define RINGSIDE_VECTOR_CLONES
#endif

#endif  // RINGSIDE_COMMON_BASE_VECTOR_CLONES_H_

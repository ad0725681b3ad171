#ifndef RINGSIDE_COMMON_OPTIM_KERNEL_H_
#define RINGSIDE_COMMON_OPTIM_KERNEL_H_

#include <cstddef>
#include <span>
#include <string>

#include "common/errors.h"

/// Private to common/optim. Marks a loop over flat spans that is compiled for several instruction
/// sets, the best of which is chosen when the program starts. Element-wise IEEE operations and
/// -ffp-contract=off make all of them agree bitwise.
#if defined(__x86_64__) && !defined(RINGSIDE_NO_TARGET_CLONES)
#define RINGSIDE_VECTOR_CLONES __attribute__((target_clones("default", "avx2", "avx512f")))
#else
#define RINGSIDE_VECTOR_CLONES
#endif

namespace ringside {

/// Throws `InternalError` unless the spans of an `Optimizer::Apply` are equally long and lie within
/// the flat vector.
inline void CheckSpans(std::size_t elements, std::size_t offset, std::span<const float> in,
                       std::span<float> out, std::span<const float> grads) {
  const std::size_t size = in.size();
  if (out.size() == size && grads.size() == size && offset <= elements &&
      size <= elements - offset) {
    return;
  }
  throw InternalError("optimizer of " + std::to_string(elements) + " parameters applied at " +
                      std::to_string(offset) + " to spans of " + std::to_string(size) + ", " +
                      std::to_string(out.size()) + " and " + std::to_string(grads.size()));
}

}  // namespace ringside

#endif  // RINGSIDE_COMMON_OPTIM_KERNEL_H_

#ifndef RINGSIDE_COMMON_OPTIM_KERNEL_H_
#define RINGSIDE_COMMON_OPTIM_KERNEL_H_

#include <cstddef>
#include <span>
#include <string>

#include "ringside/common/core/errors.h"
#include "ringside/common/core/vector_clones.h"  // IWYU pragma: export

namespace ringside {

/// Throws `InternalError` unless the spans of an `Optimizer::Apply` have equal lengths and are
/// inside the flat vector. Private to common/optim.
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

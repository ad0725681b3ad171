#ifndef RINGSIDE_COMMON_CORE_FLAT_VECTOR_H_
#define RINGSIDE_COMMON_CORE_FLAT_VECTOR_H_

#include <cstdint>

namespace ringside {

/// In which vector of a `FlatSpace` a span lies. With an offset it tells where the same elements
/// are in the spaces of other workers.
enum class FlatVector : std::uint8_t {
  kNone,  ///< In neither.
  kParams,
  kGrads,
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_CORE_FLAT_VECTOR_H_

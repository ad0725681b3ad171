#ifndef RINGSIDE_COMMON_CODEC_HALF_H_
#define RINGSIDE_COMMON_CODEC_HALF_H_

#include <cstddef>

namespace ringside {

/// Conversions between 32-bit floats and 16-bit floats. The 16-bit floats are little-endian and may
/// begin at any address. Conversions round to nearest, ties to even. A value beyond the largest
/// becomes infinite. NaN stays NaN and becomes quiet. Denormals are exact.
struct HalfKernel {
  void (*encode)(const float* in, std::byte* out, std::size_t count);
  void (*decode)(const std::byte* in, float* out, std::size_t count);
};

/// IEEE binary16: 10 bits of fraction, from 2^-24 to 65504. Uses the processor's F16C instructions
/// if it has them.
HalfKernel Fp16Kernel();
/// The same without F16C. The bits are equal.
HalfKernel PortableFp16Kernel();
/// The upper half of a 32-bit float: 7 bits of fraction, the range of a float.
HalfKernel Bf16Kernel();

}  // namespace ringside

#endif  // RINGSIDE_COMMON_CODEC_HALF_H_

#ifndef RINGSIDE_COMMON_CODEC_CODEC_MATH_H_
#define RINGSIDE_COMMON_CODEC_CODEC_MATH_H_

#include <cstddef>
#include <span>
#include <string>

#include "ringside/common/codec/codec.h"

namespace ringside {

// Private to common/codec. All functions give the same bits on every instruction set.

/// sum[i] += factor * terms[i].
void AddScaled(float factor, std::span<const float> terms, std::span<float> sum);
/// Returns the largest magnitude, or NaN if a value is NaN; 0 if there are no values.
float MaxMagnitude(std::span<const float> values);
/// Returns the mean magnitude, summed in a fixed order; 0 if there are no values.
float MeanMagnitude(std::span<const float> values);

/// Reads a float at any address.
float LoadFloat(const std::byte* in);
void StoreFloat(std::byte* out, float value);

/// For `Codec::Validate`: returns the error, empty if the length is right.
std::string WrongLength(const Encoding& encoding, std::size_t expected);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_CODEC_CODEC_MATH_H_

#ifndef RINGSIDE_MODELS_DATA_DIGITS_BYTES_H_
#define RINGSIDE_MODELS_DATA_DIGITS_BYTES_H_

#include <cstdint>
#include <span>

namespace ringside {

/// The bytes of digits.bin. Defined in a source file that the build generates from it.
std::span<const std::uint8_t> DigitsBytes();

}  // namespace ringside

#endif  // RINGSIDE_MODELS_DATA_DIGITS_BYTES_H_

#ifndef RINGSIDE_TESTS_MODELS_DATA_DATA_FILES_H_
#define RINGSIDE_TESTS_MODELS_DATA_DATA_FILES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ringside/common/data/dataset.h"

namespace ringside {

using Bytes = std::vector<std::uint8_t>;

inline void PutBigEndian32(Bytes& bytes, std::size_t offset, std::uint32_t value) {
  for (std::size_t i = 0; i < 4; ++i)
    bytes[offset + i] = static_cast<std::uint8_t>(value >> (24 - 8 * i));
}

/// An IDX file of `count` images of 28 x 28; pixel i of the file is i mod 251.
inline Bytes IdxImages(std::uint32_t count) {
  Bytes bytes(16 + count * 28 * 28);
  for (std::size_t i = 16; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::uint8_t>((i - 16) % 251);
  PutBigEndian32(bytes, 0, 0x803);
  PutBigEndian32(bytes, 4, count);
  PutBigEndian32(bytes, 8, 28);
  PutBigEndian32(bytes, 12, 28);
  return bytes;
}

/// An IDX file of `count` labels: 0, 1, ... 9, 0, ...
inline Bytes IdxLabels(std::uint32_t count) {
  Bytes bytes(8 + count);
  for (std::size_t i = 8; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>((i - 8) % 10);
  PutBigEndian32(bytes, 0, 0x801);
  PutBigEndian32(bytes, 4, count);
  return bytes;
}

/// Sample `index` as floats.
inline std::vector<float> ReadSample(const Dataset& dataset, Split split, std::size_t index) {
  std::vector<float> sample(dataset.shape().elements());
  dataset.Read(split, index, sample);
  return sample;
}

}  // namespace ringside

#endif  // RINGSIDE_TESTS_MODELS_DATA_DATA_FILES_H_

#ifndef RINGSIDE_MODELS_DATA_IDX_H_
#define RINGSIDE_MODELS_DATA_IDX_H_

#include <string>

#include "ringside/models/data/image_dataset.h"

namespace ringside {

/// The expected content of a pair of IDX files.
struct IdxExpectation {
  std::uint32_t rows = 28;
  std::uint32_t columns = 28;
  int classes = 10;
};

/// Reads a pair of IDX files (http://yann.lecun.com/exdb/mnist) of unsigned bytes: one file of
/// images (magic 0x803, count, rows, columns, pixels) and one of labels (magic 0x801, count,
/// labels). All header fields are big-endian. Throws `DataError` for a wrong magic, size, count or
/// label, and for missing or extra bytes. It allocates nothing before the sizes fit the file.
ImageSplit ReadIdxPair(const std::string& images_path, const std::string& labels_path,
                       const IdxExpectation& expected);

}  // namespace ringside

#endif  // RINGSIDE_MODELS_DATA_IDX_H_

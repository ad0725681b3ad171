#include "ringside/models/data/idx.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "ringside/models/data/data_file.h"

namespace ringside {
namespace {

constexpr std::uint32_t kImagesMagic = 0x803;  // unsigned bytes, three dimensions
constexpr std::uint32_t kLabelsMagic = 0x801;  // unsigned bytes, one dimension

void ExpectField(DataFile& file, std::uint32_t expected, const std::string& what) {
  const std::uint64_t offset = file.offset();
  const std::uint32_t found = file.ReadBigEndian32(what);
  if (found != expected) {
    file.Fail(offset,
              what + " " + std::to_string(expected) + " expected, found " + std::to_string(found));
  }
}

std::uint32_t ReadCount(DataFile& file, const std::string& what) {
  const std::uint64_t offset = file.offset();
  const std::uint32_t count = file.ReadBigEndian32(what);
  if (count == 0) file.Fail(offset, what + " of at least 1 expected, found 0");
  return count;
}

struct Images {
  std::uint32_t count;
  std::vector<std::uint8_t> pixels;
};

Images ReadImages(const std::string& path, const IdxExpectation& expected) {
  DataFile file(path);
  ExpectField(file, kImagesMagic, "the magic number of IDX images");
  const std::uint32_t count = ReadCount(file, "a number of images");
  ExpectField(file, expected.rows, "a number of rows of");
  ExpectField(file, expected.columns, "a number of columns of");
  // At most 2^32 x rows x columns of the dataset, which cannot overflow 64 bits.
  const std::uint64_t bytes = std::uint64_t{count} * expected.rows * expected.columns;
  const std::string what = std::to_string(count) + " images";
  file.ExpectLeft(bytes, what);
  return {count, file.ReadBytes(bytes, what)};
}

std::vector<std::uint8_t> ReadLabels(const std::string& path, std::uint32_t images, int classes) {
  DataFile file(path);
  ExpectField(file, kLabelsMagic, "the magic number of IDX labels");
  ExpectField(file, images, "a number of labels equal to that of the images,");
  const std::string what = std::to_string(images) + " labels";
  file.ExpectLeft(images, what);
  const std::uint64_t first = file.offset();
  std::vector<std::uint8_t> labels = file.ReadBytes(images, what);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] >= classes) {
      file.Fail(first + i, "a label below " + std::to_string(classes) + " expected, found " +
                               std::to_string(labels[i]));
    }
  }
  return labels;
}

}  // namespace

ImageSplit ReadIdxPair(const std::string& images_path, const std::string& labels_path,
                       const IdxExpectation& expected) {
  Images images = ReadImages(images_path, expected);
  std::vector<std::uint8_t> labels = ReadLabels(labels_path, images.count, expected.classes);
  return {std::move(images.pixels), std::move(labels)};
}

}  // namespace ringside

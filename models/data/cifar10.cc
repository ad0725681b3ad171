#include "ringside/models/data/cifar10.h"

#include <array>
#include <cstdint>
#include <filesystem>
#include <utility>
#include <vector>

#include "ringside/models/data/data_file.h"
#include "ringside/models/data/image_dataset.h"

namespace ringside {
namespace {

constexpr int kClasses = 10;
constexpr std::size_t kPixels = std::size_t{3} * 32 * 32;
constexpr std::size_t kRecord = 1 + kPixels;
constexpr std::array<ChannelNorm, 3> kNorms{
    ChannelNorm{.scale = 255, .mean = 0.4914, .deviation = 0.2470},
    ChannelNorm{.scale = 255, .mean = 0.4822, .deviation = 0.2435},
    ChannelNorm{.scale = 255, .mean = 0.4465, .deviation = 0.2616}};

void AppendFile(const std::filesystem::path& path, std::size_t records, ImageSplit& split) {
  DataFile file(path.string());
  const std::string what = std::to_string(records) + " records of " + std::to_string(kRecord);
  file.ExpectLeft(records * kRecord, what);
  const std::vector<std::uint8_t> bytes = file.ReadBytes(records * kRecord, what);
  for (std::size_t i = 0; i < records; ++i) {
    const std::uint8_t* record = bytes.data() + i * kRecord;
    if (record[0] >= kClasses) {
      file.Fail(i * kRecord, "a label below " + std::to_string(kClasses) + " expected, found " +
                                 std::to_string(record[0]));
    }
    split.labels.push_back(record[0]);
    split.pixels.insert(split.pixels.end(), record + 1, record + kRecord);
  }
}

}  // namespace

std::unique_ptr<Dataset> MakeCifar10(const std::string& directory, std::size_t records_per_file) {
  const std::filesystem::path folder(directory);
  ImageSplit train;
  for (int i = 1; i <= kCifarTrainFiles; ++i)
    AppendFile(folder / ("data_batch_" + std::to_string(i) + ".bin"), records_per_file, train);
  ImageSplit test;
  AppendFile(folder / "test_batch.bin", records_per_file, test);
  return std::make_unique<ImageDataset>(kCifarShape, kClasses, kNorms, std::move(train),
                                        std::move(test));
}

}  // namespace ringside

#include "ringside/models/data/cifar10.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "ringside/common/base/errors.h"
#include "tests/common/temporary_directory.h"
#include "tests/models/data/data_files.h"

namespace ringside {
namespace {

constexpr std::size_t kRecords = 4;
constexpr std::size_t kRecord = 3073;

// Record i has label (first + i) mod 10; its pixels are 1, 2 and 3 times 20 in red, green and blue.
Bytes Records(std::size_t first) {
  Bytes bytes(kRecords * kRecord);
  for (std::size_t i = 0; i < kRecords; ++i) {
    bytes[i * kRecord] = static_cast<std::uint8_t>((first + i) % 10);
    for (std::size_t j = 0; j < 3072; ++j)
      bytes[i * kRecord + 1 + j] = static_cast<std::uint8_t>(20 * (1 + j / 1024));
  }
  return bytes;
}

class Cifar10 : public testing::Test {
 protected:
  Cifar10() {
    for (std::size_t i = 1; i <= 5; ++i)
      files_.Write("data_batch_" + std::to_string(i) + ".bin", Records((i - 1) * kRecords));
    files_.Write("test_batch.bin", Records(7));
  }

  DataError ErrorOfLoading() const {
    try {
      MakeCifar10(files_.path(), kRecords);
    } catch (const DataError& error) {
      return error;
    }
    ADD_FAILURE() << "the damage was not noticed";
    return {"", -1, ""};
  }

  TemporaryDirectory files_;
};

TEST_F(Cifar10, ReadsAllBatchesInOrderAndNormalisesByChannel) {
  const auto dataset = MakeCifar10(files_.path(), kRecords);
  EXPECT_EQ(dataset->size(Split::kTrain), 5 * kRecords);
  EXPECT_EQ(dataset->size(Split::kTest), kRecords);
  EXPECT_EQ(dataset->shape().channels, 3U);
  EXPECT_EQ(dataset->shape().elements(), 3072U);
  std::vector<float> sample(3072);
  EXPECT_EQ(dataset->Read(Split::kTrain, 13, sample), 3);
  EXPECT_FLOAT_EQ(sample[0], static_cast<float>((20.0 / 255 - 0.4914) / 0.2470));
  EXPECT_FLOAT_EQ(sample[1024], static_cast<float>((40.0 / 255 - 0.4822) / 0.2435));
  EXPECT_FLOAT_EQ(sample[3071], static_cast<float>((60.0 / 255 - 0.4465) / 0.2616));
  EXPECT_EQ(dataset->Read(Split::kTest, 0, sample), 7);
}

TEST_F(Cifar10, NamesTheRecordWhoseLabelIsOutOfRange) {
  Bytes bytes = Records(0);
  bytes[2 * kRecord] = 10;
  files_.Write("data_batch_3.bin", bytes);
  const DataError error = ErrorOfLoading();
  EXPECT_EQ(error.path(), files_.Path("data_batch_3.bin"));
  EXPECT_EQ(error.offset(), static_cast<std::int64_t>(2 * kRecord));
  EXPECT_THAT(error.what(), testing::HasSubstr("below 10 expected, found 10"));
}

TEST_F(Cifar10, RefusesFilesOfAnotherSize) {
  const Bytes whole = Records(0);
  for (const std::size_t size : {std::size_t{0}, kRecord, whole.size() - 1}) {
    files_.Write("data_batch_2.bin",
                 Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
    EXPECT_EQ(ErrorOfLoading().offset(), static_cast<std::int64_t>(size));
  }
  Bytes longer = whole;
  longer.push_back(0);
  files_.Write("data_batch_2.bin", longer);
  const DataError error = ErrorOfLoading();
  EXPECT_EQ(error.path(), files_.Path("data_batch_2.bin"));
  EXPECT_EQ(error.offset(), static_cast<std::int64_t>(whole.size()));
}

TEST_F(Cifar10, SaysWhichBatchIsMissing) {
  std::filesystem::remove(files_.Path("test_batch.bin"));
  EXPECT_EQ(ErrorOfLoading().path(), files_.Path("test_batch.bin"));
}

// The real files have 10,000 records: anything else is refused without being read.
TEST_F(Cifar10, ExpectsTheRealSizeByDefault) {
  EXPECT_THROW(MakeCifar10(files_.path()), DataError);
}

}  // namespace
}  // namespace ringside

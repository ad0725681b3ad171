// MNIST and Fashion-MNIST: what is read from good files, and what is said about damaged ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <ostream>
#include <string>

#include "ringside/common/base/errors.h"
#include "ringside/common/base/splitmix64.h"
#include "ringside/models/tables/dataset_table.h"
#include "tests/common/temporary_directory.h"
#include "tests/models/data/data_files.h"

namespace ringside {
namespace {

constexpr const char* kImages = "train-images-idx3-ubyte";
constexpr const char* kLabels = "train-labels-idx1-ubyte";

std::unique_ptr<Dataset> Load(const std::string& name, const std::string& directory) {
  for (const DatasetEntry& entry : DatasetTable()) {
    if (entry.name == name) return entry.make({.directory = directory});
  }
  return nullptr;
}

class Idx : public testing::Test {
 protected:
  Idx() {
    files_.Write(kImages, IdxImages(20));
    files_.Write(kLabels, IdxLabels(20));
    files_.Write("t10k-images-idx3-ubyte", IdxImages(3));
    files_.Write("t10k-labels-idx1-ubyte", IdxLabels(3));
  }

  DataError ErrorOfLoading() const {
    try {
      Load("mnist", files_.path());
    } catch (const DataError& error) {
      return error;
    }
    ADD_FAILURE() << "the damage was not noticed";
    return {"", -1, ""};
  }

  TemporaryDirectory files_;
};

TEST_F(Idx, ReadsAndNormalises) {
  struct Norm {
    std::string name;
    double mean, deviation;
  };
  for (const auto& [name, mean, deviation] :
       {Norm{"mnist", 0.1307, 0.3081}, Norm{"fashion-mnist", 0.2860, 0.3530}}) {
    const auto dataset = Load(name, files_.path());
    EXPECT_EQ(dataset->size(Split::kTrain), 20U);
    EXPECT_EQ(dataset->size(Split::kTest), 3U);
    EXPECT_EQ(dataset->classes(), 10);
    EXPECT_EQ(dataset->shape().channels, 1U);
    EXPECT_EQ(dataset->shape().height, 28U);
    EXPECT_EQ(dataset->shape().width, 28U);
    std::vector<float> sample(784);
    EXPECT_EQ(dataset->Read(Split::kTrain, 13, sample), 3);
    const double pixel = (13 * 784 + 5) % 251;
    EXPECT_FLOAT_EQ(sample[5], static_cast<float>((pixel / 255 - mean) / deviation));
  }
}

struct Damage {
  const char* name;
  const char* file;
  std::size_t offset;  // of a 32-bit field
  std::uint32_t value;
  std::int64_t reported_offset;
  const char* reported;
};

void PrintTo(const Damage& damage, std::ostream* out) { *out << damage.name; }

class IdxField : public Idx, public testing::WithParamInterface<Damage> {};

TEST_P(IdxField, IsCheckedBeforeAnythingIsAllocated) {
  const Damage& damage = GetParam();
  Bytes bytes = std::string(damage.file) == kImages ? IdxImages(20) : IdxLabels(20);
  PutBigEndian32(bytes, damage.offset, damage.value);
  files_.Write(damage.file, bytes);
  const DataError error = ErrorOfLoading();
  EXPECT_EQ(error.path(), files_.Path(damage.file));
  EXPECT_EQ(error.offset(), damage.reported_offset);
  EXPECT_THAT(error.what(), testing::HasSubstr(damage.reported));
}

constexpr std::uint32_t kMax = std::numeric_limits<std::uint32_t>::max();
constexpr std::int64_t kImagesEnd = 16 + 20 * 784;
INSTANTIATE_TEST_SUITE_P(
    Every, IdxField,
    testing::Values(Damage{"magic", kImages, 0, 0x801, 0, "2051 expected, found 2049"},
                    Damage{"type", kImages, 0, 0xd03, 0, "2051 expected"},
                    Damage{"no_images", kImages, 4, 0, 4, "at least 1"},
                    Damage{"more_images", kImages, 4, 21, kImagesEnd, "21 images"},
                    Damage{"fewer_images", kImages, 4, 19, 16 + 19 * 784, "19 images"},
                    Damage{"absurd_images", kImages, 4, kMax, kImagesEnd, "4294967295 images"},
                    Damage{"rows", kImages, 8, 27, 8, "28 expected, found 27"},
                    Damage{"absurd_rows", kImages, 8, kMax, 8, "28 expected"},
                    Damage{"columns", kImages, 12, 29, 12, "28 expected, found 29"},
                    Damage{"label_magic", kLabels, 0, 0x803, 0, "2049 expected, found 2051"},
                    Damage{"more_labels", kLabels, 4, 21, 4, "20 expected, found 21"},
                    Damage{"absurd_labels", kLabels, 4, kMax, 4, "20 expected"}),
    [](const auto& instance) { return std::string(instance.param.name); });

TEST_F(Idx, NamesTheFirstLabelOutOfRange) {
  Bytes labels = IdxLabels(20);
  labels[8 + 7] = 10;
  labels[8 + 9] = 255;
  files_.Write(kLabels, labels);
  const DataError error = ErrorOfLoading();
  EXPECT_EQ(error.path(), files_.Path(kLabels));
  EXPECT_EQ(error.offset(), 8 + 7);
  EXPECT_THAT(error.what(), testing::HasSubstr("below 10 expected, found 10"));
}

TEST_F(Idx, RefusesEveryTruncation) {
  for (const char* file : {kImages, kLabels}) {
    const Bytes whole = std::string(file) == kImages ? IdxImages(20) : IdxLabels(20);
    const std::size_t header = whole.size() > 100 ? 16 : 8;
    for (const std::size_t size : {std::size_t{0}, std::size_t{3}, std::size_t{4}, header - 1,
                                   header, header + 1, whole.size() - 1}) {
      files_.Write(file, Bytes(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)));
      const DataError error = ErrorOfLoading();
      EXPECT_EQ(error.path(), files_.Path(file)) << size;
      EXPECT_LE(error.offset(), static_cast<std::int64_t>(size));
    }
    files_.Write(file, whole);
  }
}

TEST_F(Idx, RefusesTrailingBytes) {
  for (const char* file : {kImages, kLabels}) {
    const Bytes whole = std::string(file) == kImages ? IdxImages(20) : IdxLabels(20);
    Bytes longer = whole;
    longer.push_back(0);
    files_.Write(file, longer);
    const DataError error = ErrorOfLoading();
    EXPECT_EQ(error.path(), files_.Path(file));
    EXPECT_EQ(error.offset(), static_cast<std::int64_t>(whole.size()));
    files_.Write(file, whole);
  }
}

TEST_F(Idx, SaysWhatIsMissing) {
  std::filesystem::remove(files_.Path(kImages));
  EXPECT_EQ(ErrorOfLoading().path(), files_.Path(kImages));
  files_.Write(std::string(kImages) + ".gz", {1, 2, 3});
  EXPECT_THAT(ErrorOfLoading().what(), testing::HasSubstr("gunzip"));
  std::filesystem::create_directory(files_.Path(kImages));
  EXPECT_THAT(ErrorOfLoading().what(), testing::HasSubstr("regular file"));
}

// Whatever happens to a file, loading either works or says DataError.
TEST_F(Idx, SurvivesRandomDamage) {
  SplitMix64 random(5);
  int refused = 0;
  for (int round = 0; round < 150; ++round) {
    const bool images = random.Below(2) == 0;
    Bytes bytes = images ? IdxImages(20) : IdxLabels(20);
    const std::size_t range = random.Below(2) == 0 ? 16 : bytes.size();
    for (std::uint64_t i = 0; i <= random.Below(4); ++i)
      bytes[random.Below(range)] = static_cast<std::uint8_t>(random.Next());
    if (random.Below(4) == 0) bytes.resize(random.Below(bytes.size() + 1));
    files_.Write(images ? kImages : kLabels, bytes);
    try {
      Load("mnist", files_.path());
    } catch (const DataError&) {
      ++refused;
    }
    files_.Write(kImages, IdxImages(20));
    files_.Write(kLabels, IdxLabels(20));
  }
  EXPECT_GT(refused, 60);
}

}  // namespace
}  // namespace ringside

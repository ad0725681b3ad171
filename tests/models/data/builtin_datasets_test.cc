// Datasets that need no files, and the table of all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "ringside/common/base/errors.h"
#include "ringside/models/data/digits.h"
#include "ringside/models/data/synthetic.h"
#include "ringside/models/tables/dataset_table.h"
#include "tests/models/data/data_files.h"

namespace ringside {
namespace {

struct Moments {
  double mean = 0;
  double deviation = 0;
};

Moments MomentsOf(const Dataset& dataset, Split split) {
  double sum = 0;
  double squares = 0;
  for (std::size_t i = 0; i < dataset.size(split); ++i) {
    for (const float value : ReadSample(dataset, split, i)) {
      sum += value;
      squares += static_cast<double>(value) * static_cast<double>(value);
    }
  }
  const auto count = static_cast<double>(dataset.size(split) * dataset.shape().elements());
  return {sum / count, std::sqrt(squares / count - std::pow(sum / count, 2))};
}

std::array<int, 10> ClassCounts(const Dataset& dataset, Split split) {
  std::array<int, 10> counts{};
  std::vector<float> sample(dataset.shape().elements());
  for (std::size_t i = 0; i < dataset.size(split); ++i)
    ++counts[static_cast<std::size_t>(dataset.Read(split, i, sample))];
  return counts;
}

// Share of test samples whose nearest class mean of the training samples is their own class.
double NearestMeanAccuracy(const Dataset& dataset) {
  const std::size_t elements = dataset.shape().elements();
  std::vector<std::vector<double>> means(10, std::vector<double>(elements, 0.0));
  const std::array<int, 10> counts = ClassCounts(dataset, Split::kTrain);
  std::vector<float> sample(elements);
  for (std::size_t i = 0; i < dataset.size(Split::kTrain); ++i) {
    const auto label = static_cast<std::size_t>(dataset.Read(Split::kTrain, i, sample));
    for (std::size_t j = 0; j < elements; ++j)
      means[label][j] += static_cast<double>(sample[j]) / counts[label];
  }
  std::size_t hits = 0;
  for (std::size_t i = 0; i < dataset.size(Split::kTest); ++i) {
    const auto label = static_cast<std::size_t>(dataset.Read(Split::kTest, i, sample));
    const auto distance = [&](const std::vector<double>& mean) {
      double sum = 0;
      for (std::size_t j = 0; j < elements; ++j)
        sum += std::pow(static_cast<double>(sample[j]) - mean[j], 2);
      return sum;
    };
    std::vector<double> distances;
    for (const auto& mean : means) distances.push_back(distance(mean));
    const auto nearest = std::min_element(distances.begin(), distances.end()) - distances.begin();
    hits += static_cast<std::size_t>(nearest) == label ? 1 : 0;
  }
  return static_cast<double>(hits) / static_cast<double>(dataset.size(Split::kTest));
}

std::vector<std::int64_t> FirstLabels(const Dataset& dataset, Split split) {
  std::vector<float> sample(dataset.shape().elements());
  std::vector<std::int64_t> labels;
  for (std::size_t i = 0; i < 12; ++i) labels.push_back(dataset.Read(split, i, sample));
  return labels;
}

TEST(Digits, AreThe1797OfScikitLearn) {
  const auto digits = MakeDigits();
  EXPECT_EQ(digits->size(Split::kTrain), 1437U);
  EXPECT_EQ(digits->size(Split::kTest), 360U);
  EXPECT_EQ(digits->classes(), 10);
  const std::array<int, 10> train = ClassCounts(*digits, Split::kTrain);
  const std::array<int, 10> test = ClassCounts(*digits, Split::kTest);
  // Published class counts of the UCI test set.
  constexpr std::array<int, 10> kPublished{178, 182, 177, 183, 181, 182, 181, 179, 174, 180};
  for (std::size_t i = 0; i < 10; ++i) {
    EXPECT_EQ(train[i] + test[i], kPublished[i]) << i;
    EXPECT_NEAR(test[i], 36, 12) << i;
  }
}

TEST(Digits, SplitsNeverChange) {
  const auto digits = MakeDigits();
  EXPECT_THAT(FirstLabels(*digits, Split::kTrain),
              testing::ElementsAre(9, 6, 1, 9, 6, 3, 9, 0, 8, 2, 1, 8));
  EXPECT_THAT(FirstLabels(*digits, Split::kTest),
              testing::ElementsAre(1, 9, 3, 5, 5, 7, 1, 3, 9, 5, 4, 5));
}

TEST(Digits, SplitsAreDisjoint) {
  const auto digits = MakeDigits();
  std::set<std::vector<float>> images;
  for (const Split split : {Split::kTrain, Split::kTest}) {
    for (std::size_t i = 0; i < digits->size(split); ++i)
      images.insert(ReadSample(*digits, split, i));
  }
  EXPECT_EQ(images.size(), 1797U);  // no two images of the set are alike
}

TEST(Digits, AreStandardised) {
  const auto digits = MakeDigits();
  const Moments moments = MomentsOf(*digits, Split::kTrain);
  EXPECT_NEAR(moments.mean, 0, 0.02);
  EXPECT_NEAR(moments.deviation, 1, 0.02);
}

TEST(Synthetic, FollowsFromTheSeed) {
  const auto first = MakeSynthetic(3);
  const auto again = MakeSynthetic(3);
  const auto other = MakeSynthetic(4);
  EXPECT_EQ(first->shape().elements(), 784U);
  EXPECT_EQ(first->classes(), 10);
  EXPECT_EQ(first->size(Split::kTrain), kSyntheticTrainSamples);
  EXPECT_EQ(first->size(Split::kTest), kSyntheticTestSamples);
  EXPECT_EQ(ReadSample(*first, Split::kTest, 5), ReadSample(*again, Split::kTest, 5));
  EXPECT_NE(ReadSample(*first, Split::kTest, 5), ReadSample(*other, Split::kTest, 5));
  EXPECT_NE(ReadSample(*first, Split::kTest, 5), ReadSample(*first, Split::kTrain, 5));
}

TEST(Synthetic, NeverChanges) {
  EXPECT_THAT(FirstLabels(*MakeSynthetic(1), Split::kTrain),
              testing::ElementsAre(2, 8, 4, 4, 1, 9, 5, 9, 7, 3, 1, 2));
}

TEST(Synthetic, IsNormalisedAndLearnable) {
  const auto synthetic = MakeSynthetic(1);
  const Moments moments = MomentsOf(*synthetic, Split::kTest);
  EXPECT_NEAR(moments.mean, 0, 0.02);
  EXPECT_NEAR(moments.deviation, 1, 0.02);
  EXPECT_GT(NearestMeanAccuracy(*synthetic), 0.95);
}

TEST(NoData, HasVirtualSamplesWithoutElements) {
  const auto none = MakeNoData();
  EXPECT_EQ(none->size(Split::kTrain), 1'000'000U);
  EXPECT_EQ(none->size(Split::kTest), 0U);
  EXPECT_EQ(none->shape().elements(), 0U);
  EXPECT_EQ(none->Read(Split::kTrain, 999'999, {}), 0);
}

TEST(DatasetTable, MakesWhatNeedsNoFilesAndRefusesWithoutThem) {
  std::vector<std::string_view> names;
  for (const DatasetEntry& entry : DatasetTable()) {
    names.push_back(entry.name);
    if (entry.needs_directory) {
      EXPECT_THROW(entry.make({.directory = "/nonexistent"}), DataError) << entry.name;
    } else if (entry.takes_file) {
      EXPECT_THROW(entry.make({.file = "/nonexistent"}), DataError) << entry.name;
    } else {
      const auto made = entry.make({});
      EXPECT_GT(made->size(Split::kTrain), 0U) << entry.name;
      EXPECT_EQ(entry.train_samples, made->size(Split::kTrain)) << entry.name;
      EXPECT_EQ(entry.classes, made->classes()) << entry.name;
      EXPECT_EQ(entry.shape, made->shape()) << entry.name;
    }
  }
  EXPECT_THAT(names, testing::ElementsAre("digits", "mnist", "fashion-mnist", "cifar10",
                                          "synthetic", "npz:", "none"));
}

}  // namespace
}  // namespace ringside

#include "ringside/common/data/loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <memory>

#include "ringside/common/base/errors.h"
#include "tests/common/test_dataset.h"
#include "tests/common/thread_ranks.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

// Signals when sample `bad` is read, and then throws.
class FaultyDataset : public TestDataset {
 public:
  FaultyDataset(std::size_t train, std::size_t bad) : TestDataset(train, 0), bad_(bad) {}

  std::int64_t Read(Split split, std::size_t index, std::span<float> out) const override {
    if (index == bad_) {
      reached_.set_value();
      throw DataError("train.bin", 1234, "a label below 10");
    }
    return TestDataset::Read(split, index, out);
  }
  void WaitUntilReached() { reached_.get_future().wait(); }

 private:
  std::size_t bad_;
  mutable std::promise<void> reached_;
};

// Reads wait until `Open` is called.
class GatedDataset : public TestDataset {
 public:
  using TestDataset::TestDataset;
  std::int64_t Read(Split split, std::size_t index, std::span<float> out) const override {
    opened_.wait();
    return TestDataset::Read(split, index, out);
  }
  void Open() { gate_.set_value(); }

 private:
  std::promise<void> gate_;
  std::shared_future<void> opened_{gate_.get_future()};
};

// Notes the order in which its samples are read. They hold nothing.
class EmptySamples : public Dataset {
 public:
  explicit EmptySamples(std::vector<std::size_t>& read) : read_(read) {}
  SampleShape shape() const override { return {0, 0, 0}; }
  int classes() const override { return 1; }
  std::size_t size(Split /*split*/) const override { return 5; }
  std::int64_t Read(Split /*split*/, std::size_t index, std::span<float> /*out*/) const override {
    read_.push_back(index);
    return 0;
  }

 private:
  std::vector<std::size_t>& read_;
};

void ExpectBatch(const Batch& batch, const Dataset& dataset,
                 const std::vector<std::size_t>& which) {
  ASSERT_EQ(batch.samples, which.size());
  ASSERT_EQ(batch.labels.size(), which.size());
  const std::size_t elements = dataset.shape().elements();
  ASSERT_EQ(batch.inputs.size(), which.size() * elements);
  std::vector<float> expected(elements);
  for (std::size_t i = 0; i < which.size(); ++i) {
    EXPECT_EQ(batch.labels[i], dataset.Read(Split::kTrain, which[i], expected));
    EXPECT_TRUE(std::ranges::equal(batch.inputs.subspan(i * elements, elements), expected));
  }
}

class LoaderTest : public ::testing::TestWithParam<int> {};  // batches ahead

TEST_P(LoaderTest, DeliversTheSamplersBatchesInOrder) {
  const TestDataset dataset(50, 0);
  const World world = TestWorld(1, 3);
  Loader loader(
      dataset, world,
      {.global_batch = 8, .seed = 4, .first_step = 3, .end_step = 20, .ahead = GetParam()});
  Sampler sampler(50, 8, 4);
  EXPECT_EQ(loader.steps_per_epoch(), 7);
  for (std::int64_t step = 3; step < 20; ++step) {
    const Batch& batch = loader.Next();
    EXPECT_EQ(batch.step, step);
    EXPECT_EQ(batch.epoch, step / 7);
    EXPECT_EQ(batch.global_samples, step % 7 == 6 ? 2U : 8U);
    EXPECT_EQ(batch.gradient_scale, 1.0F);
    ExpectBatch(batch, dataset, sampler.Indices(step, 1, 3));
  }
}

TEST_P(LoaderTest, ABatchStaysValidWhileOthersAreReadAhead) {
  const TestDataset dataset(64, 0);
  Loader loader(dataset, TestWorld(0, 1), {.global_batch = 4, .end_step = 16, .ahead = GetParam()});
  Sampler sampler(64, 4, 1);
  for (std::int64_t step = 0; step < 16; ++step) {
    const Batch batch = loader.Next();
    for (int look = 0; look < 100; ++look) ExpectBatch(batch, dataset, sampler.Indices(step, 0, 1));
  }
}

TEST_P(LoaderTest, StopsAtOnceWhenTheConsumerLeavesEarly) {
  const TestDataset dataset(64, 0);
  Loader never_asked(dataset, TestWorld(0, 1), {.end_step = 1'000'000'000, .ahead = GetParam()});
  Loader asked_once(dataset, TestWorld(0, 1), {.end_step = 1'000'000'000, .ahead = GetParam()});
  asked_once.Next();
}

INSTANTIATE_TEST_SUITE_P(Ahead, LoaderTest, ::testing::Values(1, 2, 5));

TEST(LoaderErrorTest, RethrowsWhatTheThreadThrewAfterTheGoodBatches) {
  const std::size_t samples = 40;
  Sampler sampler(samples, 8, 1);
  FaultyDataset dataset(samples, sampler.Indices(2, 0, 1)[3]);
  Loader loader(dataset, TestWorld(0, 1),
                {.global_batch = 8, .seed = 1, .end_step = 5, .ahead = 4});
  dataset.WaitUntilReached();
  EXPECT_EQ(loader.Next().step, 0);
  EXPECT_EQ(loader.Next().step, 1);
  for (int again = 0; again < 2; ++again) {
    EXPECT_THAT([&] { loader.Next(); },
                ThrowsMessage<DataError>(HasSubstr("train.bin: at byte 1234")));
  }
}

TEST(LoaderErrorTest, PastTheEndIsOurOwnMistake) {
  const TestDataset dataset(8, 0);
  Loader loader(dataset, TestWorld(0, 1), {.global_batch = 8, .end_step = 1});
  loader.Next();
  EXPECT_THROW(loader.Next(), InternalError);
  Loader empty(dataset, TestWorld(0, 1), {.first_step = 5, .end_step = 5});
  EXPECT_THROW(empty.Next(), InternalError);
}

TEST(LoaderErrorTest, AThreadThatTakesTooLongIsNamed) {
  GatedDataset dataset(8, 0);
  {
    Loader loader(dataset, TestWorld(0, 1),
                  {.first_step = 7, .end_step = 9, .timeout = std::chrono::milliseconds(20)});
    EXPECT_THAT([&] { loader.Next(); },
                ThrowsMessage<CommError>(AllOf(HasSubstr("loader"), HasSubstr("step 7"))));
    dataset.Open();  // the destructor waits for the read under way
  }
}

TEST(LoaderShapeTest, UnevenBatchesLeaveSomeWorkersEmpty) {
  const TestDataset dataset(9, 0);
  Loader loader(dataset, TestWorld(3, 4), {.global_batch = 8, .end_step = 2});
  EXPECT_EQ(loader.Next().samples, 2U);
  const Batch& last = loader.Next();
  EXPECT_EQ(last.samples, 0U);
  EXPECT_EQ(last.global_samples, 1U);
  EXPECT_TRUE(last.inputs.empty());
}

TEST(LoaderShapeTest, SamplesMayHaveNoElements) {
  const TestDataset dataset(8, 0, /*inputs=*/0, /*classes=*/2);
  Loader loader(dataset, TestWorld(0, 1), {.global_batch = 4, .end_step = 2});
  EXPECT_EQ(loader.Next().samples, 4U);
  EXPECT_TRUE(loader.Next().inputs.empty());
}

TEST(Loader, SamplesThatHoldNothingAreNotShuffled) {
  std::vector<std::size_t> read;
  const EmptySamples dataset(read);
  {
    Loader loader(dataset, World{}, {.global_batch = 2, .end_step = 6});
    for (int step = 0; step < 6; ++step) EXPECT_EQ(loader.Next().samples, step % 3 == 2 ? 1U : 2U);
  }
  EXPECT_THAT(read, ::testing::ElementsAre(0, 1, 2, 3, 4, 0, 1, 2, 3, 4));
}

}  // namespace
}  // namespace ringside

#include "ringside/experiments/worker/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <fstream>

#include "ringside/common/core/errors.h"
#include "ringside/experiments/system/files.h"
#include "ringside/experiments/worker/fault.h"
#include "ringside/experiments/worker/resource_usage.h"
#include "tests/common/temporary_directory.h"

namespace ringside {
namespace {

class CheckpointTest : public ::testing::Test {
 protected:
  CheckpointTest() {
    WriteCheckpoint(path_, identity_, {42, params_, state_, buffers_});
    content_ = ReadFile(path_, 1 << 20);
  }

  void Overwrite(const std::string& content) const {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << content;
  }

  const TemporaryDirectory directory_;
  const std::string path_ = directory_.path() + "/step-42.ckpt";
  const std::array<TensorSpec, 2> tensors_{TensorSpec{"weight", 2}, TensorSpec{"bias", 1}};
  const CheckpointIdentity identity_{.tensors = TensorFingerprint(tensors_),
                                     .parameters = 3,
                                     .buffers = 1,
                                     .optimizer = OptimizerOptions::Kind::kAdam,
                                     .optimizer_state = 6};
  const std::vector<float> params_{1, 2, 3};
  const std::vector<float> state_{4, 5, 6, 7, 8, 9};
  const std::vector<float> buffers_{10};
  std::string content_;
};

TEST_F(CheckpointTest, ComesBackAsItWas) {
  const Checkpoint checkpoint = ReadCheckpoint(path_, identity_);
  EXPECT_EQ(checkpoint.steps_done, 42);
  EXPECT_EQ(checkpoint.params, params_);
  EXPECT_EQ(checkpoint.optimizer_state, state_);
  EXPECT_EQ(checkpoint.buffers, buffers_);
}

TEST_F(CheckpointTest, EveryFlippedByteIsSeen) {
  for (std::size_t at = 0; at < content_.size(); ++at) {
    std::string damaged = content_;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    Overwrite(damaged);
    EXPECT_THROW(ReadCheckpoint(path_, identity_), Error) << "byte " << at;
  }
}

TEST_F(CheckpointTest, EveryTruncationIsSeen) {
  for (std::size_t size = 0; size < content_.size(); ++size) {
    Overwrite(content_.substr(0, size));
    EXPECT_THROW(ReadCheckpoint(path_, identity_), DataError) << size << " bytes";
  }
  Overwrite(content_ + "x");
  EXPECT_THROW(ReadCheckpoint(path_, identity_), DataError);
}

TEST_F(CheckpointTest, DamageIsNamedWithItsOffset) {
  std::string damaged = content_;
  damaged[60] = 'x';  // within the parameters, which begin at 56
  Overwrite(damaged);
  try {
    ReadCheckpoint(path_, identity_);
    FAIL() << "expected a DataError";
  } catch (const DataError& error) {
    EXPECT_EQ(error.offset(), 56);
  }
}

TEST_F(CheckpointTest, AnotherModelOrOptimizerIsRefused) {
  CheckpointIdentity other = identity_;
  other.parameters = 4;
  EXPECT_THROW(ReadCheckpoint(path_, other), ConfigError);
  other = identity_;
  other.tensors += 1;
  EXPECT_THROW(ReadCheckpoint(path_, other), ConfigError);
  other = identity_;
  other.optimizer = OptimizerOptions::Kind::kAdamW;
  EXPECT_THROW(ReadCheckpoint(path_, other), ConfigError);
}

TEST(TensorFingerprint, SeesNamesSizesAndOrder) {
  const std::array<TensorSpec, 2> tensors{TensorSpec{"a", 1}, TensorSpec{"b", 2}};
  const std::array<TensorSpec, 2> swapped{tensors[1], tensors[0]};
  const std::array<TensorSpec, 2> resized{TensorSpec{"a", 2}, TensorSpec{"b", 1}};
  EXPECT_NE(TensorFingerprint(tensors), TensorFingerprint(swapped));
  EXPECT_NE(TensorFingerprint(tensors), TensorFingerprint(resized));
}

TEST(ParamsFile, ComesBackAndSeesDamage) {
  const TemporaryDirectory directory;
  const std::string path = directory.path() + "/params.bin";
  const std::vector<float> params{1, -2, 0.5};
  WriteParams(path, params);
  EXPECT_EQ(ReadParams(path, 3), params);
  EXPECT_THROW(ReadParams(path, 2), DataError);
  std::string content = ReadFile(path, 1000);
  content.back() ^= 1;
  std::ofstream(path, std::ios::binary) << content;
  EXPECT_THROW(ReadParams(path, 3), DataError);
}

TEST(Fault, IsParsedOrRefused) {
  EXPECT_FALSE(Fault::Parse(""));
  const auto fault = Fault::Parse("freeze@rank12:step345");
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, Fault::Kind::kFreeze);
  EXPECT_EQ(fault->rank, 12);
  EXPECT_EQ(fault->step, 345);
  for (const char* text : {"kill", "kill@rank1", "melt@rank1:step2", "kill@rank1:step2x"}) {
    EXPECT_THROW(Fault::Parse(text), ConfigError) << text;
  }
}

TEST(ResourceUsage, IsMeasured) {
  EXPECT_GT(PeakRssBytes(), 1 << 20);
  const double before = CpuSeconds();
  volatile std::uint64_t count = 0;
  while (CpuSeconds() == before) count = count + 1;
  EXPECT_GT(CpuSeconds(), before);
  EXPECT_EQ(OpenSocketBytes("").sent, 0);
}

}  // namespace
}  // namespace ringside

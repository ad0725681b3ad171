#include "ringside/experiments/checkpoint/checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/system/files/files.h"
#include "tests/common/temporary_directory.h"
#include "tests/experiments/checkpoint/checkpoint_testing.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;

class CheckpointTest : public ::testing::Test {
 protected:
  CheckpointTest() : path_(small_.Write(directory_.path())) {}

  std::string RefusalOf(std::span<const TensorSpec> tensors, std::size_t buffers = 1,
                        const std::string& optimizer = "adam", std::size_t state = 6) const {
    try {
      CheckpointFile(path_).CheckFits(tensors, buffers, optimizer, state);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return {};
  }

  const TemporaryDirectory directory_;
  SmallCheckpoint small_;
  const std::string path_;
};

TEST_F(CheckpointTest, ComesBackAsItWas) {
  const CheckpointFile file(path_);
  EXPECT_EQ(file.info().steps_done, 42);
  EXPECT_EQ(file.info().epoch, 2);
  EXPECT_EQ(file.info().step_of_epoch, 2);
  EXPECT_EQ(file.info().seed, 7U);
  EXPECT_EQ(file.info().global_batch, 64);
  EXPECT_EQ(file.info().samples, 1437);
  EXPECT_EQ(file.info().model, "mlp");
  EXPECT_EQ(file.info().data, "digits");
  EXPECT_EQ(file.info().strategy, "ring");
  EXPECT_EQ(file.info().codec, "topk:0.01");
  EXPECT_EQ(file.info().workers, 2);
  const Checkpoint content = file.Load();
  EXPECT_EQ(content.params, small_.params);
  EXPECT_EQ(content.optimizer_state, small_.optimizer_state);
  EXPECT_EQ(content.buffers, small_.buffers);
  EXPECT_EQ(content.state, (SavedState{{"outer-momentum", {11, 12}}}));
  EXPECT_EQ(file.LoadPart(1), (SavedState{{"residual", {16, 17, 18}}}));
  file.CheckAll();
}

TEST_F(CheckpointTest, WhatIsEmptyIsLeftOut) {
  small_.info.steps_done = 43;
  WriteCheckpoint(CheckpointPath(directory_.path(), 43), small_.info,
                  {.tensors = small_.tensors,
                   .params = small_.params,
                   .optimizer_state = {},
                   .buffers = {},
                   .state = {},
                   .worker_parts = {}});
  const CheckpointFile file(CheckpointPath(directory_.path(), 43));
  EXPECT_EQ(file.sections().size(), 1U);
  EXPECT_FALSE(file.has_part(0));
  EXPECT_TRUE(file.LoadPart(0).empty());
  EXPECT_TRUE(file.Load().optimizer_state.empty());
}

TEST_F(CheckpointTest, TheSameRunFits) { EXPECT_EQ(RefusalOf(small_.tensors), ""); }

TEST_F(CheckpointTest, AnotherModelOrOptimizerIsRefusedByName) {
  auto other = small_.tensors;
  other[1].name = "fc.offset";
  EXPECT_THAT(RefusalOf(other), HasSubstr("tensor fc.bias [1] of 'mlp', the model has fc.offset"));
  other = small_.tensors;
  other[0].shape = {1, 2};
  EXPECT_THAT(RefusalOf(other), HasSubstr("fc.weight [2, 1]"));
  EXPECT_THAT(RefusalOf(std::span(small_.tensors).first(1)), HasSubstr("2 tensors"));
  EXPECT_THAT(RefusalOf(small_.tensors, 2), HasSubstr("1 values of buffers"));
  EXPECT_THAT(RefusalOf(small_.tensors, 1, "sgd"), HasSubstr("the optimizer 'adam'"));
  EXPECT_THAT(RefusalOf(small_.tensors, 1, "adam", 3), HasSubstr("6 values of the optimizer"));
}

TEST_F(CheckpointTest, EveryFlippedByteOfAnyFileIsSeen) {
  for (const std::string& name : {path_, WorkerPartPath(path_, 0), WorkerPartPath(path_, 1)}) {
    const std::string content = ReadFile(name, 1 << 20);
    for (std::size_t at = 0; at < content.size(); ++at) {
      for (const char flip : {0x01, 0x10}) {
        std::string damaged = content;
        damaged[at] = static_cast<char>(damaged[at] ^ flip);
        Overwrite(name, damaged);
        EXPECT_THROW(CheckpointFile(path_).CheckAll(), DataError) << name << ", byte " << at;
      }
    }
    Overwrite(name, content);
  }
  CheckpointFile(path_).CheckAll();
}

TEST_F(CheckpointTest, APartOfAnotherWorkerOrStepIsRefused) {
  namespace fs = std::filesystem;
  const std::string first = WorkerPartPath(path_, 0), second = WorkerPartPath(path_, 1);
  fs::rename(first, directory_.Path("kept"));
  fs::copy_file(second, first);
  const CheckpointFile file(path_);
  EXPECT_THROW(file.LoadPart(0), DataError);
  fs::remove(first);
  EXPECT_THROW(file.LoadPart(0), DataError);  // missing
  fs::rename(directory_.Path("kept"), first);
  file.CheckAll();

  small_.info.steps_done = 43;  // the same values, written after another step
  const std::string later = small_.Write(directory_.path());
  fs::copy_file(WorkerPartPath(later, 1), second, fs::copy_options::overwrite_existing);
  EXPECT_THROW(file.LoadPart(1), DataError);
}

TEST_F(CheckpointTest, OtherTensorFilesAreNoCheckpoints) {
  try {
    const CheckpointFile file(WorkerPartPath(path_, 0));
    FAIL() << "a worker's part was taken for a checkpoint";
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), HasSubstr("ringside.checkpoint-worker/1"));
  }
  const auto refusal_of = [&](const TensorFileMetadata& metadata) -> std::string {
    WriteTensorFile(directory_.Path("other"), metadata, {});
    try {
      const CheckpointFile file(directory_.Path("other"));
    } catch (const DataError& error) {
      return error.what();
    }
    return {};
  };
  EXPECT_THAT(refusal_of({{"format", "pt"}}), HasSubstr("format 'pt'"));
  EXPECT_THAT(refusal_of({}), HasSubstr("no 'format'"));
  EXPECT_THAT(refusal_of({{"format", "ringside.checkpoint/1"}, {"step", "-1"}}),
              HasSubstr("'-1' for 'step'"));
  EXPECT_THAT(refusal_of({{"format", "ringside.checkpoint/1"}, {"step", "4x"}}),
              HasSubstr("'4x' for 'step'"));
}

}  // namespace
}  // namespace ringside

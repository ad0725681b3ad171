#include "ringside/experiments/checkpoint/checkpoint_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "ringside/common/base/errors.h"
#include "tests/common/temporary_directory.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class CheckpointFolderTest : public ::testing::Test {
 protected:
  void Make(const std::string& name) const { directory_.Write(name, {}); }
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(directory_.path())) {
      names.push_back(entry.path().filename().string());
    }
    return names;
  }

  const TemporaryDirectory directory_;
};

TEST_F(CheckpointFolderTest, NamesAreReadAsTheyAreWritten) {
  EXPECT_EQ(CheckpointPath("a/b", 40), "a/b/step-40.ckpt");
  EXPECT_EQ(WorkerPartPath("a/b/step-40.ckpt", 3), "a/b/step-40.worker-3.ckpt");
  EXPECT_EQ(WorkerPartPath("renamed", 3), "renamed.worker-3.ckpt");
  for (const char* name :
       {"step-9.ckpt", "step-40.ckpt", "step-100.ckpt", "step-100.worker-0.ckpt", "step-.ckpt",
        "step-7.ckpt.tmp99", "step--7.ckpt", "step-7", "step-007.ckpt", "step-7.ckptx",
        "step-1e3.ckpt", "step-99999999999999999999.ckpt", "notes.txt"}) {
    Make(name);
  }
  EXPECT_THAT(CheckpointSteps(directory_.path()), ElementsAre(100, 40, 9));
  EXPECT_THROW(CheckpointSteps(directory_.Path("missing")), DataError);
}

TEST_F(CheckpointFolderTest, ARunResumesWithinItsBundleHoweverThePathIsWritten) {
  const std::string bundle = directory_.Path("run");
  EXPECT_FALSE(ResumesWithin(bundle, ""));
  EXPECT_TRUE(ResumesWithin(bundle, bundle));
  EXPECT_TRUE(ResumesWithin(bundle, bundle + "/checkpoints/step-2.ckpt"));
  EXPECT_TRUE(ResumesWithin(bundle, directory_.Path("other") + "/../run/checkpoints"));
  EXPECT_FALSE(ResumesWithin(bundle, directory_.Path("other") + "/checkpoints"));
  EXPECT_FALSE(ResumesWithin(bundle, bundle + "2/checkpoints"));
}

TEST_F(CheckpointFolderTest, IsFoundInABundle) {
  EXPECT_EQ(FindCheckpointFolder(directory_.path()), "");
  fs::create_directory(directory_.Path("checkpoints"));
  EXPECT_EQ(FindCheckpointFolder(directory_.path()), "");
  Make("checkpoints/step-1.ckpt");
  EXPECT_EQ(FindCheckpointFolder(directory_.path()), directory_.Path("checkpoints"));
  EXPECT_EQ(FindCheckpointFolder(directory_.Path("checkpoints")), directory_.Path("checkpoints"));
}

TEST_F(CheckpointFolderTest, PruningKeepsTheNewestWithTheirParts) {
  for (const char* name :
       {"step-1.ckpt", "step-1.worker-0.ckpt", "step-2.worker-0.ckpt", "step-3.ckpt",
        "step-3.worker-1.ckpt", "step-10.ckpt", "step-11.worker-0.ckpt", "notes.txt"}) {
    Make(name);
  }
  EXPECT_THAT(PruneCheckpoints(directory_.path(), 0), IsEmpty());
  EXPECT_THAT(PruneCheckpoints(directory_.path(), 3), IsEmpty());
  EXPECT_EQ(Names().size(), 8U);
  EXPECT_THAT(PruneCheckpoints(directory_.path(), 2), IsEmpty());
  // The part of step 11 belongs to a checkpoint that is being written.
  EXPECT_THAT(Names(), UnorderedElementsAre("step-3.ckpt", "step-3.worker-1.ckpt", "step-10.ckpt",
                                            "step-11.worker-0.ckpt", "notes.txt"));
}

TEST_F(CheckpointFolderTest, CheckpointsOfALaterStepAreRemoved) {
  for (const char* name : {"step-3.ckpt", "step-4.ckpt", "step-5.ckpt", "step-5.worker-0.ckpt",
                           "step-6.worker-1.ckpt", "notes.txt"}) {
    Make(name);
  }
  RemoveCheckpointsAfter(directory_.path(), 4);
  EXPECT_THAT(Names(), UnorderedElementsAre("step-3.ckpt", "step-4.ckpt", "notes.txt"));
  RemoveCheckpointsAfter(directory_.path(), -1);
  EXPECT_THAT(Names(), UnorderedElementsAre("notes.txt"));
  RemoveCheckpointsAfter(directory_.Path("missing"), -1);
  fs::create_directories(directory_.Path("step-9.ckpt/full"));
  EXPECT_THROW(RemoveCheckpointsAfter(directory_.path(), 4), DataError);
}

TEST_F(CheckpointFolderTest, WhatCannotBeRemovedIsNamed) {
  fs::create_directories(directory_.Path("step-1.ckpt/full"));
  Make("step-2.ckpt");
  EXPECT_THAT(PruneCheckpoints(directory_.path(), 1),
              ElementsAre(::testing::HasSubstr("step-1.ckpt")));
}

TEST_F(CheckpointFolderTest, TemporaryFilesAreRemoved) {
  for (const char* name :
       {"step-1.ckpt", "step-2.ckpt.tmp123", "step-2.worker-0.ckpt.tmp7", "other.tmp1"}) {
    Make(name);
  }
  RemoveTemporaryCheckpoints(directory_.path(), 23);
  EXPECT_EQ(Names().size(), 4U) << "process 23 is not process 123";
  RemoveTemporaryCheckpoints(directory_.path(), 7);
  EXPECT_THAT(Names(), UnorderedElementsAre("step-1.ckpt", "step-2.ckpt.tmp123", "other.tmp1"));
  RemoveTemporaryCheckpoints(directory_.path());
  EXPECT_THAT(Names(), UnorderedElementsAre("step-1.ckpt", "other.tmp1"));
  RemoveTemporaryCheckpoints(directory_.Path("missing"));
}

}  // namespace
}  // namespace ringside

#include "ringside/experiments/system/files/sudo_ownership_transfer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <functional>

#include "tests/common/temporary_directory.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kUser = 12'345;
constexpr unsigned kGroup = 12'346;

/// The scratch directory is the user's who called sudo; what the test makes is root's.
class SudoOwnershipTransferTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0 || ::chown(home().c_str(), kUser, kGroup) != 0) {
      GTEST_SKIP() << "only root can give files away";
    }
  }

  fs::path home() const { return scratch_.path(); }
  /// What `write` makes, for a folder that is handed over.
  void Give(
      const fs::path& folder, const std::function<void()>& write = [] {}) const {
    const SudoOwnershipTransfer ownership(folder, environment_);
    write();
  }

  static void Write(const fs::path& path) {
    fs::create_directories(path.parent_path());
    std::ofstream(path) << "x";
  }
  static unsigned OwnerOf(const fs::path& path) {
    struct stat status {};
    EXPECT_EQ(::lstat(path.c_str(), &status), 0) << path;
    EXPECT_EQ(status.st_gid == kGroup, status.st_uid == kUser) << path;
    return status.st_uid;
  }

  const TemporaryDirectory scratch_;
  Environment environment_{{"SUDO_UID", std::to_string(kUser)},
                           {"SUDO_GID", std::to_string(kGroup)}};
};

TEST_F(SudoOwnershipTransferTest, AllThatRootWroteIsTheUsersAfterwards) {
  const fs::path study = home() / "results" / "a";
  {
    const SudoOwnershipTransfer ownership(study / "", environment_);
    Write(study / "run" / "logs" / "worker-0.log");
    Write(study / ".lock");
    EXPECT_EQ(OwnerOf(study), 0U);
  }
  for (const char* path : {"", "a", "a/run", "a/run/logs", "a/run/logs/worker-0.log", "a/.lock"}) {
    EXPECT_EQ(OwnerOf((home() / "results" / path).lexically_normal()), kUser) << path;
  }
}

TEST_F(SudoOwnershipTransferTest, WhatWasRootsBeforeStaysRoots) {
  Write(home() / "image" / "etc" / "passwd");
  Write(home() / "image" / "results" / "old");
  Give(home(), [&] { Write(home() / "run" / "spec.json"); });
  EXPECT_EQ(OwnerOf(home() / "run" / "spec.json"), kUser);
  EXPECT_EQ(OwnerOf(home() / "image"), 0U);
  EXPECT_EQ(OwnerOf(home() / "image" / "etc" / "passwd"), 0U);
  // Old folders on the path to a new file keep their owner too.
  Give(home() / "image" / "results" / "a",
       [&] { Write(home() / "image" / "results" / "a" / "b"); });
  EXPECT_EQ(OwnerOf(home() / "image" / "results"), 0U);
  EXPECT_EQ(OwnerOf(home() / "image" / "results" / "old"), 0U);
  EXPECT_EQ(OwnerOf(home() / "image" / "results" / "a" / "b"), kUser);
}

TEST_F(SudoOwnershipTransferTest, AnOldFileThatIsRenamedStaysRoots) {
  Write(home() / "secret");
  Write(home() / "folder" / "file");
  fs::create_directory(home() / "results");
  ASSERT_EQ(::chown((home() / "results").c_str(), kUser, kGroup), 0);
  Give(home() / "results", [&] {
    fs::rename(home() / "secret", home() / "results" / "secret");
    fs::rename(home() / "folder", home() / "results" / "folder");
    Write(home() / "results" / "spec.json");
  });
  EXPECT_EQ(OwnerOf(home() / "results" / "spec.json"), kUser);
  EXPECT_EQ(OwnerOf(home() / "results" / "secret"), 0U);
  EXPECT_EQ(OwnerOf(home() / "results" / "folder"), 0U);
}

TEST_F(SudoOwnershipTransferTest, NothingOutsideOfTheTreeIsTouched) {
  const TemporaryDirectory other;
  Write(fs::path(other.path()) / "precious");
  const fs::path study = home() / "results";
  Give(study, [&] {
    Write(study / "report.csv");
    fs::create_symlink(fs::path(other.path()) / "precious", study / "link");
    fs::create_directory_symlink(other.path(), study / "folder");
    fs::create_hard_link(fs::path(other.path()) / "precious", study / "second-name");
    Write(home() / "beside");
  });
  EXPECT_EQ(OwnerOf(study / "report.csv"), kUser);
  EXPECT_EQ(OwnerOf(other.path()), 0U);
  EXPECT_EQ(OwnerOf(fs::path(other.path()) / "precious"), 0U);
  EXPECT_EQ(OwnerOf(study / "link"), 0U);
  EXPECT_EQ(OwnerOf(home() / "beside"), 0U);
}

TEST_F(SudoOwnershipTransferTest, FoldersOfTheSystemStayTheSystems) {
  ASSERT_EQ(::chown(home().c_str(), 0, 0), 0);
  fs::create_directory(home() / "etc");
  Give(home() / "etc", [&] { Write(home() / "etc" / "passwd"); });
  EXPECT_EQ(OwnerOf(home() / "etc"), 0U);
  EXPECT_EQ(OwnerOf(home() / "etc" / "passwd"), 0U);
  // The same through a link of the user.
  fs::create_directory_symlink(home() / "etc", home() / "link");
  Give(home() / "link");
  EXPECT_EQ(OwnerOf(home() / "etc" / "passwd"), 0U);
  // What was made there is what was written there.
  {
    const SudoOwnershipTransfer ownership(home() / "srv" / "results", environment_);
    Write(home() / "srv" / "results" / "spec.json");
  }
  EXPECT_EQ(OwnerOf(home() / "srv" / "results" / "spec.json"), kUser);
}

TEST_F(SudoOwnershipTransferTest, WithoutSudoNothingIsGivenAway) {
  Write(home() / "results" / "spec.json");
  for (const Environment& environment : {Environment{}, Environment{{"SUDO_UID", "12345"}},
                                         Environment{{"SUDO_UID", "12345x"}, {"SUDO_GID", "12346"}},
                                         Environment{{"SUDO_UID", "0"}, {"SUDO_GID", "0"}}}) {
    EXPECT_FALSE(FindInvokingUser(environment));
    const SudoOwnershipTransfer ownership(home() / "results", environment);
  }
  EXPECT_EQ(OwnerOf(home() / "results" / "spec.json"), 0U);
}

}  // namespace
}  // namespace ringside

#include "ringside/experiments/system/files/private_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/system/files/files.h"
#include "tests/common/temporary_directory.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using ::testing::Not;
using ::testing::StartsWith;

constexpr uid_t kOtherUser = 12'345;

class PrivateFileTest : public ::testing::Test {
 protected:
  const TemporaryDirectory directory_;
  const Environment environment_{{"XDG_RUNTIME_DIR", directory_.path()}};
};

TEST_F(PrivateFileTest, ASecretIsReadableByItsUserAlone) {
  const mode_t before = ::umask(0);
  std::string path;
  {
    const PrivateFile file(environment_, "secret");
    path = file.path();
    struct stat status {};
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0600U);
    ASSERT_EQ(::stat(directory_.Path("ringside").c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0700U);
    EXPECT_EQ(ReadPrivateFile(path, 100), "secret");
  }
  ::umask(before);
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(PrivateFileTest, WhatAProcessLeftIsRemovedOnceItIsGone) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(0);
  siginfo_t end{};
  ASSERT_EQ(::waitid(P_PID, child, &end, WEXITED | WNOWAIT), 0);
  const fs::path left = directory_.Path("job-" + std::to_string(child) + "-a");
  const fs::path own = directory_.Path("job-" + std::to_string(::getpid()) + "-b");
  const fs::path other = directory_.Path("other-" + std::to_string(child) + "-c");
  for (const fs::path& path : {left, own, other}) {
    fs::create_directory(path);
    std::ofstream(path / "file") << "content";
  }
  RemoveLeftovers(directory_.path(), "job-");
  EXPECT_TRUE(fs::exists(left)) << "its process has not been waited for, so its number is taken";
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  RemoveLeftovers(directory_.path(), "job-");
  EXPECT_FALSE(fs::exists(left));
  EXPECT_TRUE(fs::exists(own / "file"));
  EXPECT_TRUE(fs::exists(other / "file"));
}

TEST_F(PrivateFileTest, ALinkInPlaceOfTheDirectoryIsRefused) {
  fs::create_directory(directory_.Path("elsewhere"));
  fs::create_directory_symlink(directory_.Path("elsewhere"), directory_.Path("ringside"));
  EXPECT_THROW(PrivateFile(environment_, "secret"), ConfigError);
  EXPECT_TRUE(fs::is_empty(directory_.Path("elsewhere")));
}

TEST_F(PrivateFileTest, ALinkInPlaceOfTheFileIsNotFollowed) {
  const std::string secret = directory_.Path("secret");
  WriteFileAtomically(secret, "secret", 0600);
  fs::create_symlink(secret, directory_.Path("link"));
  EXPECT_EQ(ReadPrivateFile(directory_.Path("link"), 100), std::nullopt);
}

TEST_F(PrivateFileTest, APipeIsRefusedWithoutWaiting) {
  ASSERT_EQ(::mkfifo(directory_.Path("pipe").c_str(), 0600), 0);
  EXPECT_THROW(ReadPrivateFile(directory_.Path("pipe"), 100), ConfigError);
}

// A user who calls sudo may keep the variable. What root puts there, that user could exchange.
TEST_F(PrivateFileTest, AnotherUsersRuntimeDirectoryIsNotTaken) {
  ASSERT_EQ(::getuid(), 0U) << "this test needs root: it makes a directory of another user";
  const TemporaryDirectory theirs;
  ASSERT_EQ(::chown(theirs.path().c_str(), kOtherUser, kOtherUser), 0);
  const std::string directory = PrivateDirectory({{"XDG_RUNTIME_DIR", theirs.path()}});
  EXPECT_THAT(directory, Not(StartsWith(theirs.path())));
  EXPECT_TRUE(fs::is_empty(theirs.path()));
}

}  // namespace
}  // namespace ringside

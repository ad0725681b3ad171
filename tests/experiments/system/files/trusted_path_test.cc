#include "ringside/experiments/system/files/trusted_path.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/system/files/files.h"
#include "tests/common/temporary_directory.h"

namespace {

/// What the kernel says to a sync of a directory; 0: the truth.
int directory_sync_error = 0;

}  // namespace

// Takes the place of the C library's in this program.
// NOLINTNEXTLINE(readability-identifier-naming)
extern "C" int fsync(int fd) {
  struct stat status {};
  if (directory_sync_error != 0 && ::fstat(fd, &status) == 0 && S_ISDIR(status.st_mode)) {
    errno = directory_sync_error;
    return -1;
  }
  return static_cast<int>(::syscall(SYS_fsync, fd));
}

namespace ringside {
namespace {

namespace fs = std::filesystem;

using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr uid_t kOtherUser = 12'345;

class TrustedPathTest : public ::testing::Test {
 protected:
  std::string Path(const std::string& name) const { return directory_.path() + "/" + name; }

  void Write(const std::string& name, const std::string& content) const {
    std::ofstream(Path(name)) << content;
  }

  std::string Refusal(const std::string& name) const {
    try {
      OpenForWriting(Path(name), O_TRUNC);
      return "opened";
    } catch (const DataError& error) {
      return error.what();
    }
  }

  /// As a user who may be hostile leaves it. Only root can make it.
  void LinkOfAnotherUser(const std::string& target, const std::string& name) const {
    ASSERT_EQ(::getuid(), 0U) << "this test needs root: it makes files of another user";
    fs::create_symlink(target, Path(name));
    ASSERT_EQ(::lchown(Path(name).c_str(), kOtherUser, kOtherUser), 0);
  }

  const TemporaryDirectory directory_;
};

TEST_F(TrustedPathTest, CutsOrAppends) {
  Write("file", "old");
  const std::string text = "new";
  WriteDescriptor(OpenForWriting(Path("file"), O_APPEND).get(), std::as_bytes(std::span(text)), "");
  EXPECT_EQ(ReadFile(Path("file"), 100), "oldnew");
  OpenForWriting(Path("file"), O_TRUNC);
  EXPECT_EQ(ReadFile(Path("file"), 100), "");
}

TEST_F(TrustedPathTest, RefusesALinkInPlaceOfTheFile) {
  Write("victim", "precious");
  fs::create_symlink(Path("victim"), Path("log"));
  EXPECT_THAT(Refusal("log"), HasSubstr("/log: cannot be written: it is a symbolic link"));
  EXPECT_EQ(ReadFile(Path("victim"), 100), "precious");
}

TEST_F(TrustedPathTest, RefusesAFileWithASecondName) {
  Write("victim", "precious");
  fs::create_hard_link(Path("victim"), Path("log"));
  EXPECT_THAT(Refusal("log"), HasSubstr("second name"));
  EXPECT_EQ(ReadFile(Path("victim"), 100), "precious");
}

TEST_F(TrustedPathTest, RefusesAPipeWithoutWaiting) {
  ASSERT_EQ(::mkfifo(Path("pipe").c_str(), 0600), 0);
  EXPECT_THAT(Refusal("pipe"), HasSubstr("/pipe: "));
}

TEST_F(TrustedPathTest, FollowsOwnLinksToDirectories) {
  fs::create_directory(Path("real"));
  fs::create_symlink("real", Path("link"));
  MakeDirectories(Path("link/logs"));
  OpenForWriting(Path("link/logs/worker-0.log"), O_TRUNC);
  EXPECT_TRUE(fs::exists(Path("real/logs/worker-0.log")));
  fs::create_symlink(Path("real"), Path("absolute"));
  WriteFileAtomically(Path("absolute/file"), "text");
  EXPECT_EQ(ReadFile(Path("real/file"), 100), "text");
}

TEST_F(TrustedPathTest, RootFollowsNoLinkOfAnotherUser) {
  fs::create_directories(Path("victim"));
  fs::create_directory(Path("bundle"));
  LinkOfAnotherUser(Path("victim"), "bundle/logs");
  EXPECT_THAT(Refusal("bundle/logs/worker-0.log"),
              HasSubstr("'logs' is a symbolic link of user 12345, which user 0 does not follow"));
  EXPECT_THROW(MakeDirectories(Path("bundle/logs/more")), ConfigError);
  EXPECT_THROW(WriteFileAtomically(Path("bundle/logs/file"), "text"), DataError);
  EXPECT_TRUE(fs::is_empty(Path("victim")));
}

TEST_F(TrustedPathTest, AUserFollowsOwnLinksAndThoseOfRootAlone) {
  constexpr uid_t kUser = 23'456;
  fs::create_directories(Path("victim"));
  fs::create_directory(Path("shared"));
  fs::create_symlink(Path("victim"), Path("shared/roots"));
  fs::create_symlink(Path("victim"), Path("shared/own"));
  ASSERT_EQ(::lchown(Path("shared/own").c_str(), kUser, kUser), 0);
  LinkOfAnotherUser(Path("victim"), "shared/logs");
  for (const char* name : {"", "victim", "shared"}) {
    ASSERT_EQ(::chown(Path(name).c_str(), kUser, kUser), 0);
  }
  ASSERT_EQ(::seteuid(kUser), 0);
  const std::string refusal = Refusal("shared/logs/worker-0.log");
  EXPECT_NO_THROW(OpenForWriting(Path("shared/roots/a"), O_TRUNC));
  EXPECT_NO_THROW(OpenForWriting(Path("shared/own/b"), O_TRUNC));
  ASSERT_EQ(::seteuid(0), 0);
  EXPECT_THAT(refusal, HasSubstr("'logs' is a symbolic link of user 12345, which user 23456 does"));
  EXPECT_FALSE(fs::exists(Path("victim/worker-0.log")));
}

TEST_F(TrustedPathTest, RootRemovesNothingThroughALinkOfAnotherUser) {
  fs::create_directories(Path("victim/folder"));
  Write("victim/file", "precious");
  LinkOfAnotherUser(Path("victim"), "bundle");
  const auto refused =
      ThrowsMessage<DataError>(HasSubstr("'bundle' is a symbolic link of user 12345"));
  EXPECT_THAT([this] { RemoveFile(Path("bundle/file")); }, refused);
  EXPECT_THAT([this] { RemoveTree(Path("bundle/folder")); }, refused);
  EXPECT_TRUE(fs::exists(Path("victim/file")));
  EXPECT_TRUE(fs::exists(Path("victim/folder")));
}

TEST_F(TrustedPathTest, RemovesLinksInsteadOfFollowingThem) {
  fs::create_directories(Path("victim"));
  Write("victim/file", "precious");
  fs::create_directories(Path("tree/a/b"));
  fs::create_directory_symlink(Path("victim"), Path("tree/a/link"));
  fs::create_symlink(Path("victim/file"), Path("link"));
  RemoveFile(Path("link"));
  RemoveTree(Path("tree"));
  EXPECT_FALSE(fs::exists(fs::symlink_status(Path("link"))));
  EXPECT_FALSE(fs::exists(Path("tree")));
  EXPECT_EQ(ReadFile(Path("victim/file"), 100), "precious");
  RemoveFile(Path("absent"));
  RemoveTree(Path("absent"));
  EXPECT_THROW(RemoveFile(Path("victim")), DataError);
}

TEST_F(TrustedPathTest, AFileMayKeepAllBitsOfItsMode) {
  const auto written = [this](Umask umask) {
    WriteFileAtomically(Path("file"), "text", 0777, umask);
    return fs::status(Path("file")).permissions();
  };
  const mode_t before = ::umask(027);
  EXPECT_EQ(written(Umask::kApplies), static_cast<fs::perms>(0750));
  EXPECT_EQ(written(Umask::kIgnored), static_cast<fs::perms>(0777));
  ::umask(before);
}

TEST_F(TrustedPathTest, ALoopOfLinksEnds) {
  fs::create_symlink("b", Path("a"));
  fs::create_symlink("a", Path("b"));
  EXPECT_THAT(Refusal("a/file"), HasSubstr("Too many levels of symbolic links"));
}

TEST_F(TrustedPathTest, NamesWhatIsNoDirectory) {
  Write("file", "");
  EXPECT_THAT(Refusal("file/log"), HasSubstr("/file/log: Not a directory ('file')"));
  try {
    MakeDirectories(Path("file/logs"));
    FAIL();
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), HasSubstr("cannot create the directory: Not a directory ('file')"));
  }
}

class DirectorySyncTest : public TrustedPathTest {
 protected:
  void TearDown() override { directory_sync_error = 0; }
};

// A name that is not on the disk may be gone after a crash.
TEST_F(DirectorySyncTest, AFailureIsAnErrorWithItsPath) {
  fs::create_directory(Path("logs"));
  Write("logs/worker-0.log", "text");
  directory_sync_error = EIO;
  EXPECT_THAT(
      [&] { WriteFileAtomically(Path("file"), "text"); },
      ThrowsMessage<DataError>(HasSubstr("/file: cannot sync the directory of it: Input/")));
  EXPECT_THAT(
      [&] { SyncFiles(directory_.path()); },
      ThrowsMessage<DataError>(HasSubstr("/worker-0.log: cannot sync the directory of it")));
  EXPECT_THAT([&] { MakeDirectories(Path("a/b")); },
              ThrowsMessage<ConfigError>(HasSubstr("cannot create the directory: Input/output")));
}

TEST_F(DirectorySyncTest, AFileSystemThatCannotIsNone) {
  for (const int error : {EINVAL, ENOTSUP}) {
    directory_sync_error = error;
    WriteFileAtomically(Path("file"), "text");
    MakeDirectories(Path("made/" + std::to_string(error)));
  }
  EXPECT_EQ(ReadFile(Path("file"), 100), "text");
}

TEST_F(TrustedPathTest, AKilledProcessMayLeaveItsTemporaryFile) {
  Write("file.tmp" + std::to_string(::getpid()), "half");
  WriteFileAtomically(Path("file"), "whole");
  EXPECT_EQ(ReadFile(Path("file"), 100), "whole");
  EXPECT_EQ(std::distance(fs::directory_iterator(directory_.path()), fs::directory_iterator()), 1);
}

}  // namespace
}  // namespace ringside

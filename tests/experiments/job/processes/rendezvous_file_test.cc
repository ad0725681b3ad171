#include "ringside/experiments/job/processes/rendezvous_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/system/files/files.h"
#include "tests/common/temporary_directory.h"

namespace ringside {
namespace {

class RendezvousTest : public ::testing::Test {
 protected:
  const TemporaryDirectory directory_;
  const Environment environment_{{"XDG_RUNTIME_DIR", directory_.path()}};
  const Deadline at_once_ = Deadline::After(std::chrono::milliseconds(1));
};

TEST_F(RendezvousTest, IsFoundByItsKeyAndRemoved) {
  std::string path;
  {
    const RendezvousFile file(environment_, "key", {"127.0.0.1:1", "token"});
    path = file.path();
    const RendezvousInfo rendezvous = RendezvousFile::Wait(environment_, "key", at_once_);
    EXPECT_EQ(rendezvous.target, "127.0.0.1:1");
    EXPECT_EQ(rendezvous.token, "token");
    struct stat status {};
    ASSERT_EQ(::stat(path.c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 0777, 0600);
    EXPECT_THROW(RendezvousFile::Wait(environment_, "other key", at_once_), CommError);
    EXPECT_THROW(RendezvousFile(environment_, "key", {"127.0.0.1:2", "token"}), ConfigError);
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(RendezvousTest, TheFileOfADeadJobIsNoRendezvous) {
  const RendezvousFile file(environment_, "key", {"127.0.0.1:1", "token"});
  auto json = nlohmann::json::parse(ReadFile(file.path(), 4096));
  json["start"] = "1";  // another process had this pid
  WriteFileAtomically(file.path(), json.dump(), 0600);
  EXPECT_THROW(RendezvousFile::Wait(environment_, "key", at_once_), CommError);
  const RendezvousFile next(environment_, "key", {"127.0.0.1:2", "token"});
  EXPECT_EQ(RendezvousFile::Wait(environment_, "key", at_once_).target, "127.0.0.1:2");
}

TEST_F(RendezvousTest, AFileWithValuesOfOtherTypesIsNoRendezvous) {
  const RendezvousFile file(environment_, "key", {"127.0.0.1:1", "token"});
  const auto whole = nlohmann::json::parse(ReadFile(file.path(), 4096));
  for (const char* key : {"target", "token", "pid", "start", "pid_namespace"}) {
    auto json = whole;
    json[key] = nlohmann::json::array();
    WriteFileAtomically(file.path(), json.dump(), 0600);
    EXPECT_THROW(RendezvousFile::Wait(environment_, "key", at_once_), CommError) << key;
  }
}

TEST_F(RendezvousTest, FilesOfDeadJobsGoWithTheNextJob) {
  const RendezvousFile dead(environment_, "dead", {"127.0.0.1:1", "token"});
  const RendezvousFile live(environment_, "live", {"127.0.0.1:2", "token"});
  auto json = nlohmann::json::parse(ReadFile(dead.path(), 4096));
  json["start"] = "1";
  WriteFileAtomically(dead.path(), json.dump(), 0600);
  const std::string other = directory_.path() + "/ringside/job-notes";
  WriteFileAtomically(other, "no rendezvous", 0600);
  const RendezvousFile next(environment_, "next", {"127.0.0.1:3", "token"});
  EXPECT_FALSE(std::filesystem::exists(dead.path()));
  EXPECT_TRUE(std::filesystem::exists(live.path()));
  EXPECT_TRUE(std::filesystem::exists(next.path()));
  EXPECT_TRUE(std::filesystem::exists(other));
}

// Containers may share the directory. The number of a process means another process there.
TEST_F(RendezvousTest, TheFileOfAnotherContainerStaysAndIsNoRendezvous) {
  const RendezvousFile elsewhere(environment_, "key", {"127.0.0.1:1", "token"});
  auto json = nlohmann::json::parse(ReadFile(elsewhere.path(), 4096));
  json["pid_namespace"] = "1";
  WriteFileAtomically(elsewhere.path(), json.dump(), 0600);
  EXPECT_THROW(RendezvousFile::Wait(environment_, "key", at_once_), CommError);
  const RendezvousFile next(environment_, "next", {"127.0.0.1:3", "token"});
  EXPECT_TRUE(std::filesystem::exists(elsewhere.path()));
}

TEST_F(RendezvousTest, ADirectoryOrFileOpenToOthersIsRefused) {
  const RendezvousFile file(environment_, "key", {"127.0.0.1:1", "token"});
  std::filesystem::permissions(file.path(), std::filesystem::perms(0644));
  EXPECT_THROW(RendezvousFile::Wait(environment_, "key", at_once_), ConfigError);
  std::filesystem::permissions(directory_.path() + "/ringside", std::filesystem::perms(0755));
  EXPECT_THROW(RendezvousFile(environment_, "two", {"127.0.0.1:1", "token"}), ConfigError);
}

TEST_F(RendezvousTest, APlantedLinkLeadsNobodyElsewhere) {
  const std::string victim = directory_.Path("victim");
  WriteFileAtomically(victim, "precious", 0600);
  std::string path;
  {
    const RendezvousFile file(environment_, "key", {"127.0.0.1:1", "token"});
    path = file.path();
  }
  std::filesystem::create_symlink(victim, path);
  EXPECT_THROW(RendezvousFile::Wait(environment_, "key", at_once_), CommError);
  const RendezvousFile file(environment_, "key", {"127.0.0.1:1", "token"});
  EXPECT_FALSE(std::filesystem::is_symlink(path));
  EXPECT_EQ(ReadFile(victim, 100), "precious");
  std::filesystem::create_symlink(victim, directory_.Path("token"));
  EXPECT_THROW(ReadTokenFile(directory_.Path("token")), ConfigError);
}

TEST_F(RendezvousTest, ATokenFileMustBeLongAndPrivate) {
  const std::string path = directory_.path() + "/token";
  WriteFileAtomically(path, std::string(64, 'a') + "\n", 0600);
  EXPECT_EQ(ReadTokenFile(path), std::string(64, 'a'));
  std::filesystem::permissions(path, std::filesystem::perms(0640));
  EXPECT_THROW(ReadTokenFile(path), ConfigError);
  WriteFileAtomically(path, "short\n", 0600);
  EXPECT_THROW(ReadTokenFile(path), ConfigError);
  EXPECT_THROW(ReadTokenFile(directory_.path() + "/missing"), ConfigError);
}

}  // namespace
}  // namespace ringside

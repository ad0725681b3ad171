// What matrices leave behind: the index, bundles that are run again, and what happens where results
// cannot be written. The real executable on emulated models.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "tests/experiments/cli/ringside_process.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kMatrix[] =
    "name: small\n"
    "defaults: {model: 'profile:mobilenet-v2', steps: 3, compute-ms: 1}\n"
    "axes:\n  strategy: [none, ring]\n";

class Results : public RingsideProcessTest {
 protected:
  void WriteSpec(const std::string& text = kMatrix) const {
    std::ofstream(scratch() + "/spec.yaml") << text;
  }
  std::vector<fs::path> Bundles(const std::string& study) const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(scratch() + "/" + study)) {
      if (fs::exists(entry.path() / "summary.json")) found.push_back(entry.path());
    }
    return found;
  }
  static json Read(const fs::path& path) { return json::parse(std::ifstream(path)); }
};

TEST_F(Results, AnIndexIsMadeAnewFromTheBundles) {
  WriteSpec();
  ASSERT_EQ(RunRingside("matrix spec.yaml").exit_code, 0);
  const fs::path index = scratch() + "/results/small/index.sqlite";
  ASSERT_TRUE(fs::exists(index));
  fs::remove(index);
  const ProcessResult made = RunRingside("index results/small --json");
  EXPECT_EQ(made.exit_code, 0) << made.err;
  EXPECT_EQ(json::parse(made.out)["runs"], 2);
  EXPECT_EQ(json::parse(made.out)["by_status"]["done"], 2);
  EXPECT_TRUE(fs::exists(index));

  fs::resize_file(Bundles("results/small")[0] / "summary.json", 10);
  const ProcessResult damaged = RunRingside("index results/small");
  EXPECT_EQ(damaged.exit_code, 1);
  EXPECT_THAT(damaged.err, HasSubstr("summary.json: at byte"));
  EXPECT_THAT(damaged.out, HasSubstr("1 runs, 1 done"));
  EXPECT_EQ(RunRingside("index nowhere").exit_code, 1);
}

TEST_F(Results, ABundleIsRunAgain) {
  WriteSpec();
  ASSERT_EQ(RunRingside("matrix spec.yaml --only strategy=ring").exit_code, 0);
  const fs::path bundle = Bundles("results/small").at(0);
  const ProcessResult again = RunRingside("train --json --from " + bundle.string());
  ASSERT_EQ(again.exit_code, 0) << again.err;
  const json summary = json::parse(again.out);
  const json first = Read(bundle / "summary.json");
  EXPECT_EQ(summary["rerun_of"], first["run_id"]);
  EXPECT_EQ(summary["params_sha256"], first["params_sha256"]);
  EXPECT_TRUE(first["rerun_of"].is_null());

  // If the bundle already has the name of such a run, the run takes the next name.
  const std::string own = "results/train/" + first["run_id"].get<std::string>();
  ASSERT_EQ(RunRingside("train --from " + own).exit_code, 0);
  EXPECT_EQ(Read(scratch() + "/" + own + ".2/summary.json")["rerun_of"], first["run_id"]);

  const ProcessResult longer =
      RunRingside("train --json --steps 5 --out longer --from " + (bundle / "spec.json").string());
  EXPECT_EQ(json::parse(longer.out)["steps"], 5) << longer.err;
}

TEST_F(Results, WhatIsNoSoundBundleIsNotRunAgain) {
  WriteSpec();
  ASSERT_EQ(RunRingside("matrix spec.yaml --only strategy=none").exit_code, 0);
  const fs::path bundle = Bundles("results/small").at(0);
  const auto refused = [&](const std::string& reason) {
    const ProcessResult result = RunRingside("train --out other --from " + bundle.string());
    EXPECT_EQ(result.exit_code, 1) << result.err;
    EXPECT_THAT(result.err, HasSubstr(reason));
    EXPECT_FALSE(fs::exists(scratch() + "/other"));
  };
  const json summary = Read(bundle / "summary.json");
  const json spec = Read(bundle / "spec.json");
  json newer = summary;
  newer["schema"] = "ringside.summary/2";
  std::ofstream(bundle / "summary.json") << newer;
  refused("newer Ringside");
  std::ofstream(bundle / "summary.json") << "{";
  refused("summary.json: at byte");
  std::ofstream(bundle / "summary.json") << summary;
  json unknown = spec;
  unknown["warp_factor"] = 9;
  std::ofstream(bundle / "spec.json") << unknown;
  refused("warp_factor");
  fs::resize_file(bundle / "spec.json", 7);
  refused("spec.json: at byte");
  fs::remove(bundle / "spec.json");
  refused("is not a bundle");
  EXPECT_EQ(RunRingside("train --config a.yaml --from b").exit_code, 2);
}

TEST_F(Results, KeepsGoingPastWhatNoStrategySupports) {
  WriteSpec(std::string(kMatrix) + "  hosts: [0, 9]\n");
  const ProcessResult stopped = RunRingside("matrix spec.yaml");
  EXPECT_EQ(stopped.exit_code, 3);
  EXPECT_THAT(stopped.err, HasSubstr("spec.yaml:5:14: "));
  EXPECT_FALSE(fs::exists(scratch() + "/results"));
  const ProcessResult result = RunRingside("matrix spec.yaml --keep-going --json");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("left out ring"));
  const json tally = json::parse(result.out);
  EXPECT_EQ(tally["done"], 2);
  EXPECT_EQ(tally["refused"].size(), 2U);
  EXPECT_THAT(tally["refused"][0]["reason"].get<std::string>(), HasSubstr("spec.yaml:5:14: "));
}

TEST_F(Results, ShowsATableOnATerminalAlone) {
  WriteSpec();
  const auto on_terminal = [this](const std::string& variables) {
    const std::string command = "cd '" + scratch() + "' && " + variables +
                                " script -qec '" RINGSIDE_EXECUTABLE
                                " matrix spec.yaml --force' /dev/null >.tty </dev/null";
    EXPECT_EQ(std::system(command.c_str()), 0);
    std::ifstream in(scratch() + "/.tty");
    return std::string{std::istreambuf_iterator<char>(in), {}};
  };
  if (std::system("script -qec true /dev/null >/dev/null </dev/null") != 0) {
    GTEST_SKIP() << "there is no script(1) here";
  }
  const std::string live = on_terminal("TERM=xterm NO_COLOR=");
  EXPECT_THAT(live, HasSubstr("combination"));
  EXPECT_THAT(live, HasSubstr("> ring workers=2"));
  EXPECT_THAT(live, HasSubstr("\033[3A"));
  for (const char* plain : {"TERM=dumb", "TERM=xterm NO_COLOR=1"}) {
    const std::string text = on_terminal(plain);
    EXPECT_THAT(text, Not(HasSubstr("\033"))) << plain;
    EXPECT_THAT(text, Not(HasSubstr("combination"))) << plain;
    EXPECT_THAT(text, HasSubstr("[2/2] ")) << plain;
  }
}

TEST_F(Results, AReportIsShownAlsoWhereItsFilesCannotBeWritten) {
  WriteSpec();
  ASSERT_EQ(RunRingside("matrix spec.yaml").exit_code, 0);
  // Even root cannot write a file over a folder.
  fs::create_directories(scratch() + "/results/small/report.csv/in");
  const ProcessResult table = RunRingside("report results/small --csv nowhere/all.csv");
  EXPECT_EQ(table.exit_code, 1);
  EXPECT_THAT(table.out, HasSubstr("ring"));
  EXPECT_THAT(table.err, HasSubstr("not written: results/small/report.csv"));
  EXPECT_THAT(table.err, HasSubstr("not written: nowhere/all.csv"));
  EXPECT_TRUE(fs::exists(scratch() + "/results/small/report.html"));
  const ProcessResult as_json = RunRingside("report results/small --json");
  EXPECT_EQ(as_json.exit_code, 1);
  EXPECT_TRUE(json::accept(as_json.out));
  EXPECT_EQ(RunRingside("report results/small --no-files").exit_code, 0);
}

TEST_F(Results, WhatSudoWritesIsTheUsersWhoCalledIt) {
  constexpr uid_t kUser = 12'345;
  if (::geteuid() != 0 || ::chown(scratch().c_str(), kUser, kUser) != 0) {
    GTEST_SKIP() << "only root can give files away";
  }
  const std::string sudo = "SUDO_UID=12345 SUDO_GID=12345";
  const auto expect_users = [&](const std::string& folder) {
    int files = 0;
    for (const auto& entry : fs::recursive_directory_iterator(scratch() + "/" + folder)) {
      struct stat status {};
      ASSERT_EQ(::lstat(entry.path().c_str(), &status), 0);
      EXPECT_EQ(status.st_uid, kUser) << entry.path();
      ++files;
    }
    EXPECT_GT(files, 5);
  };
  WriteSpec();
  ASSERT_EQ(RunRingside("matrix spec.yaml", sudo).exit_code, 0);
  EXPECT_EQ(RunRingside("report results/small", sudo).exit_code, 0);
  expect_users("results");
  // However it ended.
  EXPECT_EQ(RunWithFault("matrix spec.yaml --out other", "exit@rank0:step1", sudo).exit_code, 1);
  expect_users("other");
  RunRingside("train --model profile:mobilenet-v2 --steps 2 --out single/run", sudo);
  expect_users("single");
}

/// Root's files, in a scratch directory of the user who called sudo.
class SudoResults : public Results {
 protected:
  static constexpr uid_t kUser = 12'345;
  static constexpr char kTrain[] = "train --model profile:mobilenet-v2 --steps 2 --out run";
  static constexpr char kSudo[] = "SUDO_UID=12345 SUDO_GID=12345";

  void SetUp() override {
    if (::geteuid() != 0 || ::chown(scratch().c_str(), kUser, kUser) != 0) {
      GTEST_SKIP() << "only root can give files away";
    }
    fs::create_directories(scratch() + "/victims");
    WriteVictim("file", "precious");
  }
  std::string Victim(const std::string& name) const { return scratch() + "/victims/" + name; }
  void WriteVictim(const std::string& name, const std::string& text) const {
    std::ofstream(Victim(name)) << text;
    fs::permissions(Victim(name), fs::perms(0600));
  }
  /// As the user leaves it, with the folders that it needs.
  void Plant(const std::string& target, const std::string& name) const {
    const fs::path link = fs::path(scratch()) / name;
    for (fs::path folder = link.parent_path(); folder != scratch(); folder = folder.parent_path()) {
      fs::create_directories(folder);
      ASSERT_EQ(::chown(folder.c_str(), kUser, kUser), 0);
    }
    fs::create_symlink(target, link);
    ASSERT_EQ(::lchown(link.c_str(), kUser, kUser), 0);
  }
  void ExpectVictimUnchanged() const {
    struct stat status {};
    ASSERT_EQ(::stat(Victim("file").c_str(), &status), 0);
    EXPECT_EQ(status.st_uid, 0U);
    EXPECT_EQ(status.st_mode & 0777U, 0600U);
    std::ifstream in(Victim("file"));
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "precious");
  }
};

TEST_F(SudoResults, NothingIsWrittenThroughALinkThatTheUserPlanted) {
  for (const char* name : {"logs/worker-0.log", "metrics.jsonl"}) {
    Plant(Victim("file"), std::string("run/") + name);
    const ProcessResult result = RunRingside(kTrain, kSudo);
    EXPECT_EQ(result.exit_code, 1) << name << result.err;
    EXPECT_THAT(result.err, HasSubstr(std::string(name) + ": cannot be written: it is a symbolic"));
    ExpectVictimUnchanged();
    fs::remove_all(scratch() + "/run");
  }
}

TEST_F(SudoResults, AProgramIsCopiedOverALinkThatTheUserPlantedAndNotThroughIt) {
  std::ofstream(scratch() + "/train.sh") << "exit 1\n";
  fs::permissions(scratch() + "/train.sh", fs::perms(0777));
  for (const char* name : {"program", "program/1-train.sh"}) {
    const bool folder = std::string_view(name) == "program";
    Plant(folder ? scratch() + "/victims" : Victim("file"), std::string("run/") + name);
    RunRingside("train --strategy none --steps 1 --out run -- sh train.sh", kSudo);
    const fs::path copy = scratch() + "/run/program/1-train.sh";
    EXPECT_TRUE(fs::is_regular_file(fs::symlink_status(copy))) << name;
    EXPECT_EQ(fs::status(copy).permissions(), fs::perms(0777));
    ExpectVictimUnchanged();
    EXPECT_FALSE(fs::exists(Victim("1-train.sh")));
    fs::remove_all(scratch() + "/run");
  }
}

TEST_F(SudoResults, NoSummaryIsRemovedBehindALinkThatTheUserPlanted) {
  const std::string failed = R"({"schema": "ringside.summary/1", "status": "failed"})";
  WriteVictim("summary.json", failed);
  Plant(scratch() + "/victims", "run");
  WriteSpec();
  const json plan = json::parse(RunRingside("matrix spec.yaml --dry-run --json").out);
  Plant(scratch() + "/victims", "results/small/" + plan["runs"][0]["run_id"].get<std::string>());
  for (const char* args : {kTrain, "matrix spec.yaml --force"}) {
    const ProcessResult result = RunRingside(args, kSudo);
    EXPECT_EQ(result.exit_code, 1) << args << result.err;
    EXPECT_THAT(result.err, HasSubstr("is a symbolic link of user 12345, which user 0 does not"));
    EXPECT_TRUE(fs::exists(Victim("summary.json"))) << args;
    ExpectVictimUnchanged();
  }
}

TEST_F(Results, ADirectoryThatCannotBeMadeIsAnErrorWithItsPath) {
  WriteSpec();
  std::ofstream(scratch() + "/results") << "a file";
  const ProcessResult result = RunRingside("matrix spec.yaml");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("results/small: cannot create the directory: Not a directory"));
}

// Files end at 32 KiB, or the file system itself: what a full disk is to those who write.
TEST_F(Results, AFileThatCannotGrowStopsTheMatrixAndItResumes) {
  WriteSpec(
      "name: small\ndefaults: {model: 'profile:mobilenet-v2', steps: 200, compute-ms: 0.1}\n"
      "axes:\n  strategy: [none]\n");
  const ProcessResult full = RunRingside("matrix spec.yaml", "ulimit -f 64;");
  EXPECT_EQ(full.exit_code, 1) << full.err;
  EXPECT_THAT(full.err, HasSubstr("cannot write: File too large"));
  EXPECT_THAT(full.err, HasSubstr("--resume"));
  EXPECT_TRUE(Bundles("results/small").empty());
  const ProcessResult resumed = RunRingside("matrix spec.yaml --resume --json");
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_EQ(json::parse(resumed.out)["done"], 1);
}

// With a mount of its own, in a namespace that goes with the shell.
class Mounted : public Results {
 protected:
  void SetUp() override {
    if (std::system("unshare -rm true 2>/dev/null") != 0) GTEST_SKIP() << "no user namespaces here";
    WriteSpec();
    fs::create_directories(scratch() + "/results");
  }
  ProcessResult RunMounted(const std::string& options, const std::string& script) const {
    std::ofstream(scratch() + "/in_mount.sh")
        << "mount -t tmpfs -o " << options << " none results && " << script << "\n";
    const std::string command = "cd '" + scratch() + "' && unshare -rm sh in_mount.sh >.out 2>.err";
    const int status = std::system(command.c_str());
    const auto read = [this](const char* name) {
      std::ifstream in(scratch() + "/" + name);
      return std::string{std::istreambuf_iterator<char>(in), {}};
    };
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, read(".out"), read(".err")};
  }
};

TEST_F(Mounted, ADiskOf64KiBIsFullAndDamagesNothing) {
  const std::string ringside = RINGSIDE_EXECUTABLE;
  // Freed, the matrix goes on there.
  const ProcessResult result =
      RunMounted("size=64k", ringside +
                                 " matrix spec.yaml; echo code=$?; ls results/small/*/summary.json "
                                 "2>/dev/null | wc -l; mount -o remount,size=4m results && " +
                                 ringside + " matrix spec.yaml --resume --json");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("code=1"));
  EXPECT_THAT(result.err, ::testing::AnyOf(HasSubstr("No space left on device"),
                                           HasSubstr("database or disk is full")));
  EXPECT_THAT(result.err, HasSubstr("results/small"));
  const json tally = json::parse(result.out.substr(result.out.find('{')));
  EXPECT_EQ(tally["done"].get<int>() + tally["skipped"].get<int>(), 2);
}

// Of 10 MiB, two checkpoints of 4 MiB fit, and not a third beside them.
TEST_F(Mounted, AFullDiskLeavesTheCheckpointsThatWereThere) {
  const std::string ringside = RINGSIDE_EXECUTABLE;
  const std::string train = ringside +
                            " train --quiet --strategy ring --workers 2 --steps 6 "
                            "--model profile:small-tensors --checkpoint-every 1 ";
  const ProcessResult result =
      RunMounted("size=10m", train + "--out results/run; echo code=$?; " + ringside +
                                 " checkpoint check results/run >/dev/null; echo check=$?; "
                                 "echo temporary=$(ls -A results/run/checkpoints | grep -c tmp); "
                                 "mount -o remount,size=60m results && " +
                                 train + "--resume results/run --out results/rest --json");
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("code=1\ncheck=0\ntemporary=0\n")) << result.err;
  EXPECT_THAT(result.err, HasSubstr("No space left on device"));
  EXPECT_THAT(result.err, HasSubstr("checkpoints/step-"));
  EXPECT_EQ(json::parse(result.out.substr(result.out.find('{')))["status"], "done");
}

TEST_F(Mounted, AReadOnlyDirectoryIsAnErrorWithItsPath) {
  const ProcessResult result = RunMounted("ro", RINGSIDE_EXECUTABLE " matrix spec.yaml; exit $?");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err,
              HasSubstr("results/small: cannot create the directory: Read-only file system"));
}

}  // namespace
}  // namespace ringside

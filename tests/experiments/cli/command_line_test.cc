// The real executable: exit codes, streams, and runs of a profile model, which need no libtorch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/experiments/cli/ringside_process.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

constexpr char kSmall[] =
    "train --model profile:mobilenet-v2 --steps 4 --compute-ms 1 --workers 2 --out run";

class CommandLine : public RingsideProcessTest {
 protected:
  std::string WriteSpec(const std::string& text) const {
    std::ofstream(scratch() + "/spec.yaml") << text;
    return "spec.yaml";
  }
};

constexpr char kMatrix[] =
    "name: small\n"
    "defaults: {model: 'profile:mobilenet-v2', steps: 3, compute-ms: 1}\n"
    "axes:\n  strategy: [none, ring]\n  workers: [1, 2]\n";

TEST_F(CommandLine, HelpGoesToStdoutAndStartsWithExamples) {
  for (const char* args : {"--help", "-h", "train --help", "matrix -h", "report --help",
                           "verify --help", "checkpoint --help", "certificates --help",
                           "lesson --help", "list --help", "doctor --help"}) {
    const ProcessResult result = RunRingside(args);
    EXPECT_EQ(result.exit_code, 0) << args;
    EXPECT_THAT(result.err, IsEmpty()) << args;
    EXPECT_LT(result.out.find("Examples:"), result.out.find("Usage:")) << args;
    EXPECT_EQ(result.out.find('\033'), std::string::npos) << "colour off a terminal: " << args;
  }
}

TEST_F(CommandLine, VersionNamesCommitAndBackends) {
  const ProcessResult result = RunRingside("--version");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, HasSubstr("git "));
  EXPECT_THAT(result.out, HasSubstr("Gloo"));
}

// The dynamic linker names every file it opens, at the start and on dlopen.
TEST_F(CommandLine, NothingOfLibtorchIsLoaded) {
  for (const char* args : {"--help", "list strategies", "list models", "list datasets"}) {
    const ProcessResult result = RunRingside(args, "LD_DEBUG=files");
    EXPECT_EQ(result.exit_code, 0) << args;
    EXPECT_NE(result.err.find("file=libc.so"), std::string::npos) << "nothing was told: " << args;
    EXPECT_EQ(result.err.find("libtorch"), std::string::npos) << args;
    EXPECT_EQ(result.err.find("libc10"), std::string::npos) << args;
  }
}

TEST_F(CommandLine, InternalVerbsAreNotShown) {
  EXPECT_THAT(RunRingside("--help").out, Not(HasSubstr("a parameter server process")));
}

struct Misuse {
  const char* args;
  int exit_code;
  const char* message;
};

void PrintTo(const Misuse& misuse, std::ostream* out) { *out << "ringside " << misuse.args; }

class CommandLineMisuse : public CommandLine, public ::testing::WithParamInterface<Misuse> {};

TEST_P(CommandLineMisuse, IsToldOnStderrWithItsExitCode) {
  const ProcessResult result = RunRingside(GetParam().args);
  EXPECT_EQ(result.exit_code, GetParam().exit_code) << result.err;
  EXPECT_THAT(result.err, HasSubstr(GetParam().message));
  EXPECT_THAT(result.out, IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(
    Table, CommandLineMisuse,
    ::testing::Values(
        Misuse{"", 2, "Usage:"}, Misuse{"trian", 2, "did you mean 'train'"},
        Misuse{"--workers 2", 2, "flag before the verb"},
        Misuse{"train --wrokers 2", 2, "did you mean '--workers'"},
        Misuse{"train --work 2", 2, "unknown flag"},
        Misuse{"train --coded fp16", 2, "unknown flag"},
        Misuse{"train --strategy rng", 2, "did you mean 'ring'"},
        Misuse{"train --model mpl", 2, "did you mean 'mlp'"},
        Misuse{"train --workers 0", 2, "--workers:"},
        Misuse{"train --strategy none --", 2, "--: name the program to run"},
        Misuse{"train --model mlp -- cat", 2, "--model: the program is the model; omit model"},
        Misuse{"verify --model mlp -- cat", 2, "--model: the program is the model; omit model"},
        Misuse{"train --config /nowhere.yaml", 3, "/nowhere.yaml"},
        Misuse{"train --model profile:gpt2 --steps 1 --time-limit soon", 2, "--time-limit"},
        Misuse{"train --model profile:mobilenet-v2 --steps 2 --tls /nonexistent", 2,
               "/nonexistent"},
        Misuse{"train --model profile:mobilenet-v2 --steps 2 --address 192.0.2.1", 2, "--tls DIR"},
        Misuse{"certificates make", 2, "DIR is missing"},
        Misuse{"certificates mend certs", 2, "make, renew or check"},
        Misuse{"certificates make certs --days 0", 2, "--days: 0 is not from 1"},
        Misuse{"certificates make certs --hosts a,,b", 2, "is neither an IP address nor"},
        Misuse{"train --global-batch 0", 2, "--global-batch: a batch of 0 samples"},
        Misuse{"train --batch-per-worker 0", 2, "--batch-per-worker: a batch of 0 samples"},
        Misuse{"train --global-batch 5000", 2, "--global-batch: 5000 samples a step are more than"},
        Misuse{"train --steps 1000000001", 2, "--steps:"},
        Misuse{"train --epochs 1000000001", 2, "--epochs:"},
        Misuse{"matrix", 2, "SPEC.yaml is missing"},
        Misuse{"matrix /nowhere.yaml", 3, "/nowhere.yaml"},
        Misuse{"matrix a b", 2, "unexpected argument 'b'"},
        Misuse{"report /nowhere", 1, "no such directory"},
        Misuse{"report /tmp --no-files --figures", 2, "--figures writes into DIR"},
        Misuse{"report . --target-accuracy often", 2, "--target-accuracy: 'often' is not"},
        Misuse{"report . --target-accuracy 120%", 2, "at most 1"},
        Misuse{"compare results", 2, "B is missing"},
        Misuse{"compare a b --metric step-ms", 2, "did you mean 'step_ms'"},
        Misuse{"compare a b --threshold -1%", 2, "must not be negative"},
        Misuse{"compare /nowhere /nowhere", 1, "no such directory"},
        Misuse{"list strategie", 2, "did you mean 'strategies'"},
        Misuse{"verify --model profile:gpt2 --strategies ps-async", 2, "--strategies:"},
        Misuse{"verify --workers 0", 2, "--workers:"},
        Misuse{"verify --repeat twice", 2, "--repeat:"},
        Misuse{"verify --optimizers sdg", 2, "--optimizers:"}));

TEST_F(CommandLine, ListsForProgramsAndPeople) {
  const json all = json::parse(RunRingside("list --json").out);
  EXPECT_EQ(all["schema"], "ringside.list/1");
  EXPECT_GE(all["strategies"].size(), 5U);
  EXPECT_GE(all["models"].size(), 5U);
  EXPECT_GE(all["datasets"].size(), 5U);
  EXPECT_THAT(RunRingside("list strategies").out, HasSubstr("ps-sync"));
}

TEST_F(CommandLine, WhatCannotRunHereIsListedWithItsReasonAndRefused) {
  const json list = json::parse(RunRingside("list strategies --json").out);
  for (const json& row : list["strategies"]) {
    if (row["available"].get<bool>()) continue;
    const std::string name = row["name"];
    const std::string reason = row["unavailable"];
    EXPECT_THAT(reason, Not(IsEmpty())) << name;
    const ProcessResult result = RunRingside(
        "train --model profile:mobilenet-v2 --steps 2 --out refused --strategy " + name);
    EXPECT_EQ(result.exit_code, 4) << name;
    EXPECT_THAT(result.err, HasSubstr(reason));
    EXPECT_FALSE(fs::exists(scratch() + "/refused"));
  }
}

TEST_F(CommandLine, AHierarchyWithoutItsNcclLacksABackendToo) {
  const json list = json::parse(RunRingside("list strategies --json").out);
  for (const json& row : list["strategies"]) {
    if (row["name"] == "nccl" && row["available"].get<bool>()) GTEST_SKIP() << "NCCL can run here";
  }
  const std::string spec = WriteSpec(
      "name: small\n"
      "defaults: {model: 'profile:mobilenet-v2', steps: 2, strategy: hierarchical}\n"
      "axes:\n  host-sum: [nccl]\n");
  for (const std::string& args :
       {std::string("train --model profile:mobilenet-v2 --steps 2 --strategy hierarchical "
                    "--host-sum nccl --out refused"),
        "matrix " + spec + " --out refused"}) {
    const ProcessResult result = RunRingside(args);
    EXPECT_EQ(result.exit_code, 4) << result.err;
    EXPECT_THAT(result.err, HasSubstr("host-sum: nccl: "));
    EXPECT_FALSE(fs::exists(scratch() + "/refused"));
  }
}

TEST_F(CommandLine, DoctorAnswers) {
  const json report = json::parse(RunRingside("doctor --json").out);
  EXPECT_EQ(report["schema"], "ringside.doctor/1");
  std::vector<std::string> names;
  for (const json& finding : report["findings"]) {
    names.push_back(finding["name"].get<std::string>());
    EXPECT_THAT(finding["detail"].get<std::string>(), Not(IsEmpty())) << names.back();
  }
  for (const char* emulated : {"emulated hosts", "emulated rates", "emulated latency"}) {
    EXPECT_THAT(names, ::testing::Contains(std::string(emulated)));
  }
  const ProcessResult ranked = RunRingside(
      "doctor",
      "RANK=1 WORLD_SIZE=3 LOCAL_RANK=1 LOCAL_WORLD_SIZE=3 MASTER_ADDR=127.0.0.1 MASTER_PORT=9");
  EXPECT_THAT(ranked.out, HasSubstr("rank 1 of 3 workers"));
}

TEST_F(CommandLine, PrintsItsConfigurationWithSources) {
  const ProcessResult result =
      RunRingside(std::string(kSmall) + " --print-config", "RINGSIDE_SEED=7");
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_THAT(result.out, ::testing::ContainsRegex("steps: 4 +# --steps"));
  EXPECT_THAT(result.out, ::testing::ContainsRegex("seed: 7 +# RINGSIDE_SEED"));
  EXPECT_FALSE(fs::exists(scratch() + "/run"));
}

TEST_F(CommandLine, AnAnswerThatCannotBeWrittenIsAFailure) {
  EXPECT_EQ(RunRingside("list models 2>.said >/dev/full; echo $?").out, "1\n");
  std::ifstream said(scratch() + "/.said");
  std::string line;
  ASSERT_TRUE(std::getline(said, line));
  EXPECT_EQ(line, "ringside: standard output could not be written: No space left on device");
}

TEST_F(CommandLine, ClosedStandardStreamsLeadNoMessageIntoAFile) {
  const ProcessResult result = RunRingside(std::string(kSmall) + " <&- >&- 2>&-; echo $?");
  EXPECT_EQ(result.out, "0\n");
  std::ifstream metrics(scratch() + "/run/metrics.jsonl");
  int lines = 0;
  for (std::string line; std::getline(metrics, line); ++lines) {
    EXPECT_TRUE(json::accept(line)) << line;
  }
  EXPECT_GT(lines, 0);
  EXPECT_TRUE(json::accept(std::ifstream(scratch() + "/run/summary.json")));
}

TEST_F(CommandLine, TrainsAndKeepsAFinishedRun) {
  const ProcessResult first = RunRingside(std::string(kSmall) + " --json");
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_EQ(json::parse(first.out)["status"], "done");
  const ProcessResult second = RunRingside(kSmall);
  EXPECT_EQ(second.exit_code, 2);
  EXPECT_THAT(second.err, HasSubstr("--force"));
  EXPECT_EQ(RunRingside(std::string(kSmall) + " --force").exit_code, 0);
  const ProcessResult again =
      RunRingside("train --config run/spec.json --out again --json --strategy none");
  EXPECT_EQ(json::parse(again.out)["steps"], 4);
}

TEST_F(CommandLine, ReplacesARunThatDidNotEndWell) {
  fs::create_directories(scratch() + "/run");
  for (const char* status : {"failed", "diverged", "timed out", "interrupted"}) {
    std::ofstream(scratch() + "/run/summary.json") << json{{"status", status}};
    const ProcessResult result = RunRingside(kSmall);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    EXPECT_THAT(result.err, HasSubstr(std::string("replacing the run in run, which is ") + status));
  }
}

// A checkpoint tells only a worker how far it is.
TEST_F(CommandLine, WhatAWorkerRefusesIsAFlagsFaultWhereThereIsNoSpecFile) {
  ASSERT_EQ(RunRingside(std::string(kSmall) + " --checkpoint-every 4").exit_code, 0);
  const std::string more = " --out again --resume run/checkpoints/step-4.ckpt";
  const ProcessResult flags = RunRingside(
      "train --model profile:mobilenet-v2 --workers 2 --steps 4 --strategy ring" + more);
  EXPECT_EQ(flags.exit_code, 2) << flags.err;
  EXPECT_THAT(flags.err, HasSubstr("cannot resume"));
  EXPECT_EQ(RunRingside("train --config run/spec.json" + more).exit_code, 3);
  EXPECT_EQ(RunRingside("train" + more, "RINGSIDE_CONFIG=run/spec.json").exit_code, 3);
}

TEST_F(CommandLine, CheckpointsAreShownCheckedAndExported) {
  ASSERT_EQ(RunRingside(std::string(kSmall) + " --checkpoint-every 1").exit_code, 0);
  const std::string newest = "run/checkpoints/step-4.ckpt";
  const json shown = json::parse(RunRingside("checkpoint show run --json").out);
  ASSERT_EQ(shown["checkpoints"].size(), 2U);  // --keep is 2
  EXPECT_EQ(shown["checkpoints"][0]["path"], newest);
  EXPECT_EQ(shown["checkpoints"][0]["step"], 4);
  EXPECT_EQ(shown["checkpoints"][1]["step"], 3);
  EXPECT_THAT(RunRingside("checkpoint show " + newest).out,
              AllOf(HasSubstr("step 4"), HasSubstr("parameters")));

  EXPECT_EQ(RunRingside("checkpoint check run").exit_code, 0);
  EXPECT_EQ(RunRingside("checkpoint export run model.safetensors").exit_code, 0);
  EXPECT_GT(fs::file_size(scratch() + "/model.safetensors"), 1000U);

  std::fstream(scratch() + "/" + newest, std::ios::in | std::ios::out | std::ios::binary)
          .seekp(-1, std::ios::end)
      << "x";
  const ProcessResult damaged = RunRingside("checkpoint check run");
  EXPECT_EQ(damaged.exit_code, 1);
  EXPECT_THAT(damaged.out, AllOf(HasSubstr(newest + ": at byte"), HasSubstr("step-3.ckpt: ok")));
  fs::remove(scratch() + "/model.safetensors");
  EXPECT_EQ(RunRingside("checkpoint export run model.safetensors").exit_code, 1);
  EXPECT_FALSE(fs::exists(scratch() + "/model.safetensors"));
}

// After a kill, the same command again must not remove what the run could go on from.
TEST_F(CommandLine, CheckpointsOfAnUnfinishedRunAreNotReplacedUnasked) {
  const std::string args = std::string(kSmall) + " --checkpoint-every 2";
  ASSERT_EQ(RunRingside(args).exit_code, 0);
  const std::string kept = scratch() + "/run/checkpoints/step-2.ckpt";
  for (const char* status : {"interrupted", ""}) {
    fs::remove(scratch() + "/run/summary.json");
    if (*status != '\0') {
      std::ofstream(scratch() + "/run/summary.json") << json{{"status", status}};
    }
    const ProcessResult again = RunRingside(args);
    EXPECT_EQ(again.exit_code, 2) << status;
    EXPECT_THAT(again.err, HasSubstr("--resume run goes on from them"));
    EXPECT_TRUE(fs::exists(kept));
  }
  const ProcessResult resumed = RunRingside(args + " --resume " + kept);
  EXPECT_EQ(resumed.exit_code, 0) << resumed.err;
  EXPECT_TRUE(fs::exists(kept));
  EXPECT_EQ(RunRingside(std::string(kSmall) + " --checkpoint-every 3 --keep 0 --force").exit_code,
            0);
  EXPECT_FALSE(fs::exists(kept)) << "it would be taken for one of the new run";
}

// It goes on from another run, and its own checkpoints are newer than those.
TEST_F(CommandLine, CheckpointsOfAResumedRunAreNotReplacedUnasked) {
  ASSERT_EQ(RunRingside(std::string(kSmall) + " --checkpoint-every 2").exit_code, 0);
  std::string rest(kSmall);
  rest.replace(rest.find("--out run"), std::string::npos, "--out rest");
  rest += " --checkpoint-every 3 --resume run/checkpoints/step-2.ckpt";
  ASSERT_EQ(RunRingside(rest).exit_code, 0);
  const std::string kept = scratch() + "/rest/checkpoints/step-3.ckpt";
  ASSERT_TRUE(fs::exists(kept));
  fs::remove(scratch() + "/rest/summary.json");
  const ProcessResult again = RunRingside(rest);
  EXPECT_EQ(again.exit_code, 2);
  EXPECT_THAT(again.err, HasSubstr("--resume rest goes on from them"));
  EXPECT_TRUE(fs::exists(kept));
  EXPECT_EQ(RunRingside(rest + " --force").exit_code, 0);
}

TEST_F(CommandLine, CheckpointSaysWhatItNeeds) {
  EXPECT_EQ(RunRingside("checkpoint").exit_code, 2);
  EXPECT_THAT(RunRingside("checkpoint melt run").err, HasSubstr("show, check or export"));
  EXPECT_EQ(RunRingside("checkpoint melt run").exit_code, 2);
  EXPECT_EQ(RunRingside("checkpoint export run").exit_code, 2);
  EXPECT_EQ(RunRingside("checkpoint check run out").exit_code, 2);
  EXPECT_EQ(RunRingside("checkpoint check missing.ckpt").exit_code, 1);
  fs::create_directory(scratch() + "/empty");
  EXPECT_THAT(RunRingside("checkpoint show empty").err, HasSubstr("no checkpoint in this folder"));
  const ProcessResult resume = RunRingside(std::string(kSmall) + " --resume empty");
  EXPECT_EQ(resume.exit_code, 2);
  EXPECT_THAT(resume.err, HasSubstr("--resume: there is no checkpoint in 'empty'"));
}

TEST_F(CommandLine, IdleServersOfARealModelAreRefusedBeforeAnythingStarts) {
  const auto result = RunRingside(
      "train --strategy ps-sync --workers 2 --servers 8 --hidden 16 --steps 1 --out run");
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_THAT(result.err, HasSubstr("--servers: 8 servers for 1 buckets"));
  EXPECT_FALSE(std::filesystem::exists(scratch() + "/run"));
}

TEST_F(CommandLine, AMissingWorkerIsAMissingBackend) {
  const ProcessResult result =
      RunRingside("train --model mlp --steps 2 --out run", "RINGSIDE_WORKER=/nonexistent");
  EXPECT_EQ(result.exit_code, 4) << result.err;
}

TEST_F(CommandLine, TheFlagGoesBeforeTheVariableOfTheAddress) {
  const std::string variable = "RINGSIDE_ADDRESS=192.0.2.1";
  const ProcessResult refused = RunRingside(kSmall, variable);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("192.0.2.1"));
  const std::string flag = " --address 127.0.0.1 --force";
  EXPECT_EQ(RunRingside(kSmall + flag, variable).exit_code, 0);
  const ProcessResult rank =
      RunRingside("train --model profile:mobilenet-v2 --steps 2 --compute-ms 1 --out run" + flag,
                  variable +
                      " RANK=0 WORLD_SIZE=1 LOCAL_RANK=0 LOCAL_WORLD_SIZE=1 MASTER_ADDR=127.0.0.1 "
                      "MASTER_PORT=9");
  EXPECT_EQ(rank.exit_code, 0) << rank.err;
}

TEST_F(CommandLine, VerifyTellsItsRateAndWhatItsLimitIsFor) {
  EXPECT_THAT(RunRingside("verify --help").out, HasSubstr("meant for small rates"));
  const ProcessResult result = RunRingside(
      "verify --model profile:mobilenet-v2 --steps 2 --strategies ring --workers 1 --optimizers "
      "sgd --lr 0.004 --repeat none");
  EXPECT_THAT(result.out, HasSubstr("0.004")) << result.err;
}

TEST_F(CommandLine, TimesOut) {
  const ProcessResult result = RunRingside(
      "train --model profile:mobilenet-v2 --steps 1000000000 --compute-ms 50 --time-limit 1s");
  EXPECT_EQ(result.exit_code, 124) << result.err;
}

TEST_F(CommandLine, MatrixReportsAndResumes) {
  const std::string spec = WriteSpec(kMatrix);
  const ProcessResult dry = RunRingside("matrix " + spec + " --dry-run");
  EXPECT_EQ(dry.exit_code, 0) << dry.err;
  EXPECT_THAT(dry.out, HasSubstr("4 runs, 4 to carry out"));
  EXPECT_FALSE(fs::exists(scratch() + "/results"));

  const ProcessResult run = RunRingside("matrix " + spec + " --json");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(json::parse(run.out)["done"], 4);
  EXPECT_EQ(RunRingside("matrix " + spec).exit_code, 2);
  EXPECT_EQ(json::parse(RunRingside("matrix " + spec + " --resume --json").out)["skipped"], 4);

  const ProcessResult report = RunRingside("report results/small --markdown --tensorboard");
  EXPECT_EQ(report.exit_code, 0) << report.err;
  EXPECT_THAT(report.out, HasSubstr("ring"));
  const std::string study = scratch() + "/results/small";
  EXPECT_TRUE(fs::exists(study + "/report.csv"));
  EXPECT_GT(fs::file_size(study + "/report.html"), 1'000'000U) << "plotly.js is in it";
  EXPECT_TRUE(fs::exists(study + "/report.md"));
  EXPECT_THAT(report.err, HasSubstr("tensorboard: 4 event files in "));
  EXPECT_TRUE(fs::exists(study + "/runs.csv"));
  const ProcessResult same = RunRingside("compare results/small results/small --json");
  EXPECT_EQ(same.exit_code, 0) << same.err;
  EXPECT_EQ(json::parse(same.out)["cells"].size(), 4U);
  EXPECT_EQ(json::parse(std::ifstream(study + "/report.json"))["cells"].size(), 4U);
}

TEST_F(CommandLine, CompareFailsWhereStudiesDifferByMoreThanTheThreshold) {
  ASSERT_EQ(RunRingside(std::string(kSmall) + " --warmup-steps 1").exit_code, 0);
  const fs::path slower = scratch() + "/slower";
  fs::copy(scratch() + "/run", slower);
  json summary = json::parse(std::ifstream(slower / "summary.json"));
  json& step_ms = summary.at("step_ms").at("median");
  step_ms = 3 * step_ms.get<double>();
  std::ofstream(slower / "summary.json") << summary;

  const ProcessResult differ = RunRingside("compare run slower --json");
  EXPECT_EQ(differ.exit_code, 5) << differ.err;
  EXPECT_EQ(json::parse(differ.out)["cells"][0]["outcome"], "worse");
  EXPECT_EQ(RunRingside("compare run slower --threshold 250%").exit_code, 0);
  EXPECT_EQ(RunRingside("compare run slower --metric samples_per_s").exit_code, 0);

  summary["fidelity"] = {{"verdict", "limited"}, {"limited_by", {"the processor: 4 % idle"}}};
  std::ofstream(slower / "summary.json") << summary;
  EXPECT_EQ(RunRingside("compare run slower").exit_code, 1) << "nothing could be compared";
}

// Before, the launcher never learned that its workers had ended.
TEST_F(CommandLine, RunsUnderAParentThatIgnoresItsChildren) {
  const ProcessResult result = RunProgram(
      "timeout 100 env --ignore-signal=CHLD --block-signal=TERM " RINGSIDE_EXECUTABLE, kSmall);
  EXPECT_EQ(result.exit_code, 0) << result.err;
}

TEST_F(CommandLine, AMatrixWithAMistakeStartsNothing) {
  const std::string spec = WriteSpec("name: small\naxes:\n  wrokers: [1]\n");
  const ProcessResult result = RunRingside("matrix " + spec);
  EXPECT_EQ(result.exit_code, 3);
  EXPECT_THAT(result.err, HasSubstr("spec.yaml:3:3: unknown key 'wrokers' (did you mean"));
  EXPECT_FALSE(fs::exists(scratch() + "/results"));
}

TEST_F(CommandLine, ReportTellsOfDamageAndReportsTheRest) {
  ASSERT_EQ(RunRingside(kSmall).exit_code, 0);
  const fs::path study = scratch() + "/study";
  fs::create_directories(study / "damaged");
  fs::copy(scratch() + "/run", study / "good");
  std::ofstream(study / "damaged" / "summary.json") << "{\"schema\": ";
  const ProcessResult result = RunRingside("report study --no-files");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("study/damaged/summary.json: at byte"));
  EXPECT_THAT(result.out, HasSubstr("ring"));
}

TEST_F(CommandLine, AProgramThatNeverJoinsIsToldOfAfterTheGivenTime) {
  const ProcessResult result =
      RunRingside("train --strategy ring --workers 2 --start-timeout 1s --out run -- sleep 120");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_THAT(result.err, HasSubstr("worker 0"));
  EXPECT_THAT(result.err,
              HasSubstr("did not join within 1 s: the program has not called ringside.init()"));
}

TEST_F(CommandLine, VerifiesProfileModels) {
  const ProcessResult result = RunRingside(
      "verify --model profile:mobilenet-v2 --steps 3 --strategies ring,ps-sync --workers 1,2 "
      "--servers 1 --optimizers sgd --json");
  ASSERT_EQ(result.exit_code, 0) << result.err << result.out;
  const json report = json::parse(result.out);
  EXPECT_EQ(report["rows"].size(), 4U);
  EXPECT_TRUE(report["ok"]);
}

TEST_F(CommandLine, AnImpossibleLimitFailsTheComparison) {
  const ProcessResult result = RunRingside(
      "verify --model profile:mobilenet-v2 --steps 2 --strategies ring --workers 1 --optimizers "
      "sgd --limit 0 --repeat none");
  EXPECT_EQ(result.exit_code, 5) << result.err;
  EXPECT_THAT(result.out, HasSubstr("FAIL"));
}

}  // namespace
}  // namespace ringside

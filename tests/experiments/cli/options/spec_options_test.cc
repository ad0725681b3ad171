#include "ringside/experiments/cli/options/spec_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/spec/resolve/resolve.h"
#include "tests/experiments/test_catalog.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class SpecOptionsTest : public ::testing::Test {
 protected:
  SpecOptionsTest() : options_("train", "trains", {}) { AddSpecOptions(options_, takes_); }

  EffectiveSpec Read(const std::vector<std::string>& args, const Environment& environment = {}) {
    return ReadSpec(options_.Parse(args), environment, takes_);
  }

  static std::string WriteConfig(const std::string& text) {
    // Tests run beside each other.
    const std::string path = ::testing::TempDir() + "spec_options_" +
                             testing::UnitTest::GetInstance()->current_test_info()->name() +
                             ".yaml";
    std::ofstream(path) << text;
    return path;
  }

  template <typename E>
  static std::string RefusalOf(const std::function<void()>& body) {
    try {
      body();
    } catch (const E& error) {
      return error.what();
    }
    return "taken";
  }

  SpecOptions takes_{.defaults = RunSpec(TestCatalog())};
  OptionSet options_;
};

TEST_F(SpecOptionsTest, FlagBeforeEnvironmentBeforeFileBeforeDefault) {
  const std::string path = WriteConfig("workers: 3\nlr: 0.3\nseed: 3\n");
  const EffectiveSpec effective = Read({"--config", path, "--workers", "5"},
                                       {{"RINGSIDE_WORKERS", "4"}, {"RINGSIDE_LR", "0.4"}});
  EXPECT_EQ(effective.spec.workers, 5);
  EXPECT_EQ(effective.spec.learning_rate, 0.4);
  EXPECT_EQ(effective.spec.seed, 3U);
  EXPECT_EQ(effective.spec.threads, RunSpec(TestCatalog()).threads);
  EXPECT_EQ(effective.sources.at("workers").place, "--workers");
  EXPECT_EQ(effective.sources.at("lr").place, "RINGSIDE_LR");
  EXPECT_THAT(effective.sources.at("seed").place, HasSubstr(":3:7: seed"));
  EXPECT_FALSE(effective.sources.contains("threads"));
}

TEST_F(SpecOptionsTest, ReadsSpecJsonOfABundleBack) {
  RunSpec spec(TestCatalog());
  spec.model = "profile:resnet50";
  spec.steps = 3;
  spec.strategy = "ps-sync";
  spec.colocated = true;
  spec.bucket_bytes = 12345;
  spec = Resolve(spec);
  const std::string path = WriteConfig(nlohmann::json(spec).dump(2));
  EXPECT_EQ(nlohmann::json(Read({"--config", path}).spec), nlohmann::json(spec));
}

// They name both kinds of batch; by hand 0 is none.
TEST_F(SpecOptionsTest, ABatchOfZeroIsTheOneThatAResolvedSpecHasNot) {
  RunSpec weak(TestCatalog());
  weak.model = "profile:resnet50";
  weak.steps = 3;
  weak.batch_per_worker = 8;
  weak = Resolve(weak);
  const std::string path = WriteConfig(nlohmann::json(weak).dump(2));
  EXPECT_EQ(nlohmann::json(Read({"--config", path}).spec), nlohmann::json(weak));

  const std::string none = WriteConfig("seed: 1\nbatch-per-worker: 0\n");
  EXPECT_THAT(RefusalOf<ConfigError>([&] {
                Read({"--config", none});
              }),
              StartsWith(none + ":2:19: batch-per-worker: a batch of 0 samples"));
  EXPECT_THAT(RefusalOf<UsageError>([&] {
                Read({"--global-batch", "0", "--batch-per-worker", "8"});
              }),
              StartsWith("--global-batch: a batch of 0 samples"));
  EXPECT_THAT(RefusalOf<UsageError>([&] {
                Read({}, {{"RINGSIDE_GLOBAL_BATCH", "0"}});
              }),
              StartsWith("RINGSIDE_GLOBAL_BATCH: a batch of 0 samples"));
}

TEST_F(SpecOptionsTest, PrintedConfigReadsBack) {
  const EffectiveSpec effective = Read({"--model", "profile:vgg16", "--steps", "2", "--timeline"});
  const RunSpec resolved = ResolveEffective(effective);
  const std::string printed = PrintConfig(effective, resolved);
  EXPECT_THAT(printed, HasSubstr("# --steps"));
  EXPECT_THAT(printed, HasSubstr("# default"));
  EXPECT_EQ(nlohmann::json(Read({"--config", WriteConfig(printed)}).spec),
            nlohmann::json(resolved));
}

TEST_F(SpecOptionsTest, AStrongerBatchReplacesAWeakerOneOfTheOtherKind) {
  const EffectiveSpec effective =
      Read({"--batch-per-worker", "8"}, {{"RINGSIDE_GLOBAL_BATCH", "64"}});
  EXPECT_EQ(effective.spec.batch_per_worker, 8);
  EXPECT_EQ(effective.spec.global_batch, 0);
  const EffectiveSpec both = Read({"--batch-per-worker", "8", "--global-batch", "64"});
  EXPECT_THROW(ResolveEffective(both), UsageError);
}

TEST_F(SpecOptionsTest, RefusalsPointAtTheirSource) {
  EXPECT_THAT(RefusalOf<UsageError>([&] { Read({"--workers", "two"}); }), StartsWith("--workers:"));
  EXPECT_THAT(RefusalOf<UsageError>([&] {
                Read({}, {{"RINGSIDE_LR", "x"}});
              }),
              StartsWith("RINGSIDE_LR:"));
  EXPECT_THAT(RefusalOf<UsageError>([&] {
                ResolveEffective(Read({"--workers", "0"}));
              }),
              StartsWith("--workers:"));
  const std::string path = WriteConfig("seed: 1\nworkers: 0\n");
  EXPECT_THAT(RefusalOf<ConfigError>([&] {
                ResolveEffective(Read({"--config", path}));
              }),
              StartsWith(path + ":2:10: workers:"));
  const std::string unknown = WriteConfig("wrokers: 1\n");
  EXPECT_THAT(RefusalOf<ConfigError>([&] {
                Read({"--config", unknown});
              }),
              AllOf(StartsWith(unknown + ":1:1:"), HasSubstr("did you mean 'workers'")));
  const std::string second = WriteConfig("workers: 1\n---\nwrokers: 1\n");
  EXPECT_THAT(RefusalOf<ConfigError>([&] {
                Read({"--config", second});
              }),
              AllOf(StartsWith(second + ":3:1:"), HasSubstr("second document")));
}

TEST_F(SpecOptionsTest, AFileIsToBlameForADefaultThatDoesNotFitIt) {
  const std::string path = WriteConfig("seed: 1\nworkers: 100\n");
  const auto resolve = [&](const std::vector<std::string>& args) {
    return [this, args] { ResolveEffective(Read(args)); };
  };
  EXPECT_THAT(RefusalOf<ConfigError>(resolve({"--config", path})),
              StartsWith(path + ":2:10: workers: global-batch: 64 samples"));
  EXPECT_THAT(RefusalOf<UsageError>(resolve({"--config", path, "--workers", "99"})),
              StartsWith("--global-batch: 64 samples are fewer than 99"));
}

TEST_F(SpecOptionsTest, AnEmptyProgramIsRefusedWhereItIsGiven) {
  EXPECT_EQ(RefusalOf<UsageError>([&] {
              Read({"--program", ""});
            }),
            "--program: it names no program");
  EXPECT_EQ(RefusalOf<UsageError>([&] {
              Read({}, {{"RINGSIDE_PROGRAM", " "}});
            }),
            "RINGSIDE_PROGRAM: it names no program");
  const std::string path = WriteConfig("seed: 1\nprogram: []\n");
  EXPECT_EQ(RefusalOf<ConfigError>([&] {
              Read({"--config", path});
            }),
            path + ":2:10: program: it names no program");
}

// Also one that is the default.
TEST_F(SpecOptionsTest, AGivenModelBesideAProgramIsRefused) {
  options_.TakeRest({"COMMAND", "a program"});
  for (const char* model : {"mlp", "cnn"}) {
    EXPECT_EQ(RefusalOf<UsageError>([&] {
                Read({"--model", model, "--", "cat"});
              }),
              "--model: the program is the model; omit model");
    EXPECT_EQ(RefusalOf<UsageError>([&] {
                Read({"--program", "cat"}, {{"RINGSIDE_MODEL", model}});
              }),
              "RINGSIDE_MODEL: the program is the model; omit model");
    const std::string path = WriteConfig(std::string("program: [cat]\nmodel: ") + model + "\n");
    EXPECT_EQ(RefusalOf<ConfigError>([&] {
                Read({"--config", path});
              }),
              path + ":2:8: model: the program is the model; omit model");
  }
  const EffectiveSpec effective = Read({"--strategy", "none", "--", "cat"});
  const RunSpec resolved = ResolveEffective(effective);
  const std::string printed = WriteConfig(PrintConfig(effective, resolved));
  EXPECT_EQ(nlohmann::json(Read({"--config", printed}).spec), nlohmann::json(resolved))
      << "a resolved spec names its model 'program'";
}

TEST_F(SpecOptionsTest, KeysThatAVerbSetsItselfAreNoFlags) {
  SpecOptions takes{.defaults = RunSpec(TestCatalog())};
  takes.without = {"workers"};
  OptionSet options("verify", "verifies", {});
  AddSpecOptions(options, takes);
  EXPECT_THROW((void)options.Parse({"--workers", "2"}), UsageError);
  const EffectiveSpec effective = ReadSpec(options.Parse({}), {{"RINGSIDE_WORKERS", "9"}}, takes);
  EXPECT_EQ(effective.spec.workers, RunSpec(TestCatalog()).workers);
}

}  // namespace
}  // namespace ringside

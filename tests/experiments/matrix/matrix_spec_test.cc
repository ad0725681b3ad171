#include "ringside/experiments/matrix/matrix_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/matrix/matrix_plan.h"
#include "tests/experiments/test_catalog.h"

namespace ringside {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(MatrixSpec, ReadsAllOfIt) {
  const MatrixSpec spec = ParseMatrixSpec(R"(name: study-1
defaults:
  model: profile:resnet50
  steps: 5
  hidden: []
axes:
  strategy: [ring, ps-sync]
  bucket-mb: [1, 64KiB]
include:
  - {strategy: none, workers: 1}
exclude:
  - strategy: ring
    bucket-mb: 1
repetitions: 3
order_seed: 7
retries: 1
time_limit: 2min
)",
                                          "study.yaml", TestCatalog());
  EXPECT_EQ(spec.name, "study-1");
  EXPECT_EQ(spec.defaults.size(), 3U);
  ASSERT_EQ(spec.axes.size(), 2U);
  EXPECT_EQ(spec.axes[1].values[0].value, 1 << 20);
  EXPECT_EQ(spec.axes[1].values[1].value, 64 << 10);
  EXPECT_EQ(spec.axes[1].values[1].position.line, 8);
  EXPECT_EQ(spec.axes[1].values[1].position.column, 18);
  EXPECT_EQ(spec.include.size(), 1U);
  EXPECT_EQ(spec.exclude.size(), 1U);
  EXPECT_EQ(spec.repetitions, 3);
  EXPECT_EQ(spec.order_seed, 7U);
  EXPECT_EQ(spec.retries, 1);
  EXPECT_EQ(spec.time_limit_s, 120);
}

TEST(MatrixSpec, RefusesOneFileForTheTracesOfAllRuns) {
  const auto refusal = [](const std::string& text) -> std::string {
    try {
      ParseMatrixSpec("name: a\n" + text, "s.yaml", TestCatalog());
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "taken";
  };
  const std::string axes = "\naxes: {workers: [1]}\n";
  EXPECT_THAT(refusal("defaults: {timeline: on, timeline_filename: t.json}" + axes),
              StartsWith("s.yaml:2:45: timeline-filename"));
  EXPECT_THAT(refusal("axes: {timeline-filename: [t.json]}\n"), StartsWith("s.yaml:2:28: "));
  EXPECT_THAT(refusal("include:\n  - {timeline-filename: t.json}" + axes),
              StartsWith("s.yaml:3:25: "));
}

TEST(MatrixSpec, AMapIsWhatTheFlagSays) {
  const MatrixSpec spec = ParseMatrixSpec(R"(name: a
defaults:
  network: {hosts: 2, rates: [1Gbps, 2Gbps], latency: 50us}
axes:
  network: [100Mbps, {rate: 1Gbps}]
)",
                                          "s.yaml", TestCatalog());
  EXPECT_EQ(spec.defaults[0].value, "hosts=2,rates=1Gbps:2Gbps,latency=50us");
  EXPECT_EQ(spec.axes[0].values[0].value, "100Mbps");
  EXPECT_EQ(spec.axes[0].values[1].value, "1Gbps");
}

TEST(MatrixSpec, StragglersAreAnAxis) {
  const MatrixSpec spec = ParseMatrixSpec(R"(name: slow
axes:
  straggler: [none, {kind: rotating, factor: 2}, "kind=permanent,factor=1.5,worker=1"]
)",
                                          "s.yaml", TestCatalog());
  ASSERT_EQ(spec.axes[0].values.size(), 3U);
  EXPECT_EQ(spec.axes[0].values[0].value, "none");
  EXPECT_EQ(spec.axes[0].values[1].value, "kind=rotating,factor=2,every=10");
  EXPECT_EQ(spec.axes[0].values[2].value, "kind=permanent,factor=1.5,worker=1");
}

struct Fault {
  const char* name;
  const char* text;
  const char* place;
  const char* message;
};

std::string RefusalOf(const std::string& text) {
  try {
    ParseMatrixSpec(text, "s.yaml", TestCatalog());
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "taken";
}

TEST(MatrixSpec, RefusesADocumentThatIsTooDeepOrTooLong) {
  const auto nested = [](std::size_t depth) {
    return RefusalOf("name: " + std::string(depth, '[') + std::string(depth, ']'));
  };
  EXPECT_THAT(nested(31), ::testing::Not(HasSubstr("within each other")));
  EXPECT_THAT(nested(32), HasSubstr("more than 32 maps and lists within each other"));
  EXPECT_THAT(nested(100'000), StartsWith("s.yaml:1:38: more than 32"));
  EXPECT_THAT(RefusalOf("name: " + std::string(1 << 20, 'a')),
              StartsWith("s.yaml: longer than 1048576 bytes"));
}

TEST(MatrixSpec, RefusesANullCharacterInANameWithItsPosition) {
  const std::string axes = "axes: {workers: [1]}\n";
  EXPECT_THAT(RefusalOf("name: \"a\\0b\"\n" + axes),
              StartsWith("s.yaml:1:7: name 'a\\x00b' must be letters"));
  EXPECT_THAT(RefusalOf("name: a\ndefaults: {data: \"npz:a\\0b\"}\n" + axes),
              AllOf(StartsWith("s.yaml:2:18: "), HasSubstr("it holds a null character")));
}

TEST(MatrixSpec, AProgramIsALineOrAListOfWords) {
  const MatrixSpec spec =
      ParseMatrixSpec("name: a\naxes:\n  program: [cat x, [cat, 'a b'], [cat, 'c,d:e=f']]\n",
                      "s.yaml", TestCatalog());
  using nlohmann::json;
  ASSERT_EQ(spec.axes[0].values.size(), 3U);
  EXPECT_EQ(spec.axes[0].values[0].value, json({"cat", "x"}));
  EXPECT_EQ(spec.axes[0].values[1].value, json({"cat", "a b"}));
  EXPECT_EQ(spec.axes[0].values[2].value, json({"cat", "c,d:e=f"}));
  EXPECT_THAT(RefusalOf("name: a\naxes: {program: [[cat, [x]]]}\n"),
              HasSubstr("a word of program"));
}

TEST(MatrixSpec, AnAliasIsAsLongAsWhatItStandsFor) {
  const MatrixSpec spec = ParseMatrixSpec(
      "name: a\ndefaults: {model: &m mlp, hidden: &h [8, 8]}\n"
      "axes:\n  model: [*m]\n  hidden: [*h, [4]]\n",
      "s.yaml", TestCatalog());
  EXPECT_EQ(spec.axes[0].values[0].value, "mlp");
  EXPECT_EQ(spec.axes[1].values.size(), 2U);

  std::string long_list = "name: a\naxes: {x: [&a " + std::string(1000, 'a') + ", ";
  for (int i = 0; i < 10'000; ++i) long_list += "*a, ";
  EXPECT_THAT(RefusalOf(long_list + "*a]}\n"), HasSubstr("with what its aliases stand for"));
  std::string doubled = "name: a\naxes:\n  a0: &a0 [x, x]\n";
  for (int i = 1; i < 30; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    doubled += "  a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before + ", " +
               before + "]\n";
  }
  EXPECT_THAT(RefusalOf(doubled), HasSubstr("with what its aliases stand for"));
  EXPECT_THAT(RefusalOf("name: a\naxes: &a {workers: [*a]}\n"),
              StartsWith("s.yaml:2:21: an alias of what it is a part of"));
}

class MatrixSpecFault : public ::testing::TestWithParam<Fault> {};

TEST_P(MatrixSpecFault, IsRefusedWithItsPlace) {
  try {
    (void)PlanMatrix(ParseMatrixSpec(GetParam().text, "s.yaml", TestCatalog()));
    FAIL() << "taken";
  } catch (const ConfigError& error) {
    EXPECT_THAT(error.what(), StartsWith(std::string("s.yaml:") + GetParam().place + ": "));
    EXPECT_THAT(error.what(), HasSubstr(GetParam().message));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Table, MatrixSpecFault,
    ::testing::Values(
        Fault{"UnknownTopKey", "name: a\naxis:\n  workers: [1]\n", "2:1", "did you mean 'axes'"},
        Fault{"RunKeyAtTop", "name: a\nworkers: 2\n", "2:1", "belong under 'defaults:'"},
        Fault{"UnknownDefault", "name: a\ndefaults:\n  wrokers: 2\naxes: {workers: [1]}\n", "3:3",
              "did you mean 'workers'"},
        Fault{"UnknownAxis", "name: a\naxes:\n  stratgy: [ring]\n", "3:3",
              "did you mean 'strategy'"},
        Fault{"DilationBelowOne", "name: a\ndefaults:\n  dilation: 0.5\naxes: {workers: [1]}\n",
              "3:13", "a factor of 0.5 would ask the machine to be faster than it is"},
        Fault{"DilationWithoutNetwork", "name: a\ndefaults:\n  dilation: 2\naxes: {workers: [2]}\n",
              "3:13", "only an emulated network can be slowed down"},
        Fault{"DilationOutOfReach",
              "name: a\ndefaults:\n  network: 100Mbps\n  dilation: 500\naxes: {workers: [2]}\n",
              "4:13", "the slowest link would have 2e+05 bit/s"},
        Fault{"DilationOfARealModel",
              "name: a\ndefaults:\n  model: mlp\n  network: 1Gbps\n  dilation: 2\n"
              "axes: {workers: [2]}\n",
              "5:13", "model 'mlp' really computes"},
        Fault{"SliceLargerThanABucket",
              "name: a\ndefaults:\n  strategy: ps-sync\n  model: profile:vgg16\n  steps: 2\naxes:\n"
              "  slice-kb: [64, 8192]\n",
              "7:18", "8192 KiB are more than a bucket has (4 MiB"},
        Fault{"DuplicateTopKey", "name: a\nname: b\naxes: {workers: [1]}\n", "2:1", "comes twice"},
        Fault{"DuplicateDefault",
              "name: a\ndefaults:\n  seed: 1\n  seed: 2\naxes: {workers: [1]}\n", "4:3",
              "already in line 3"},
        Fault{"DuplicateUnderTwoNames",
              "name: a\ndefaults:\n  lr: 1\n  learning_rate: 2\naxes: {workers: [1]}\n", "4:3",
              "two names"},
        Fault{"DuplicateAxis", "name: a\naxes:\n  workers: [1]\n  workers: [2]\n", "4:3",
              "comes twice"},
        Fault{"DuplicateValue", "name: a\naxes:\n  workers: [1, 2, 1]\n", "3:19", "twice"},
        Fault{"WrongType", "name: a\naxes:\n  workers: [1, two]\n", "3:16", "not a whole number"},
        Fault{"WrongUnit", "name: a\ndefaults:\n  link: 1Gps\naxes: {workers: [1]}\n", "3:9",
              "rate such as"},
        Fault{"MapForValue", "name: a\ndefaults:\n  seed: {a: 1}\naxes: {workers: [1]}\n", "3:9",
              "single value"},
        Fault{"UnknownInAMap", "name: a\ndefaults:\n  network: {rat: 1}\naxes: {workers: [1]}\n",
              "3:12", "did you mean 'rate'"},
        Fault{"EmptyMap", "name: a\ndefaults:\n  network: {}\naxes: {workers: [1]}\n", "3:12",
              "is empty"},
        Fault{"MapOfMaps", "name: a\ndefaults:\n  network: {rate: {}}\naxes: {workers: [1]}\n",
              "3:19", "single value"},
        Fault{"TwiceInAMap",
              "name: a\ndefaults:\n  network: {rate: 1Gbps, rate: 1Gbps}\naxes: {workers: [1]}\n",
              "3:26", "comes twice"},
        Fault{"CommaInAMap",
              "name: a\ndefaults:\n  network: {rate: 'a,b=1'}\naxes: {workers: [1]}\n", "3:19",
              "without ','"},
        Fault{"NetworkThatCannotBe",
              "name: a\ndefaults: {model: 'profile:vgg16', steps: 2}\naxes:\n  workers: [2]\n  "
              "network: [{hosts: 3, rate: 1Gbps}]\n",
              "5:13", "3 hosts for 2 workers"},
        Fault{"EmptyAxis", "name: a\naxes:\n  workers: []\n", "3:12", "is empty"},
        Fault{"AxisIsNoList", "name: a\naxes:\n  workers: 2\n", "3:12", "must be a list"},
        Fault{"AxesAreNoMap", "name: a\naxes: [workers]\n", "2:7", "must be a map"},
        Fault{"NoName", "axes: {workers: [1]}\n", "1:1", "'name' is missing"},
        Fault{"NoAxes", "name: a\n", "1:1", "'axes' is missing"},
        Fault{"NameIsAPath", "name: ../a\naxes: {workers: [1]}\n", "1:7", "names a folder"},
        Fault{"NotYaml", "name: a\naxes: [1\n", "3:1", ""},
        Fault{"SecondDocument", "name: a\naxes: {workers: [1]}\n---\nunknown: 1\n", "4:1",
              "second document"},
        Fault{"EmptySecondDocument", "name: a\naxes: {workers: [1]}\n---\n# no more\n", "5:1",
              "second document"},
        Fault{"StrayComma", ", a\n", "1:1", "unexpected ','"},
        Fault{"StrayCommaAtTheEnd", "name: a\naxes: {workers: [1]}\n, b\n", "3:1",
              "end of map not found"},
        Fault{"StrayBracket", "]", "1:1", ""},
        Fault{"NoBatch", "name: a\ndefaults: {global-batch: 0}\naxes: {workers: [1]}\n", "2:26",
              "a batch of 0 samples"},
        Fault{"NoBatchInAnAxis", "name: a\naxes:\n  batch-per-worker: [8, 0]\n", "3:25",
              "a batch of 0 samples"},
        Fault{
            "NeitherBatch",
            "name: a\ndefaults:\n  global_batch: 0\n  batch_per_worker: 0\naxes: {workers: [1]}\n",
            "3:17", "a batch of 0 samples"},
        Fault{"NotAMap", "- 1\n", "1:1", "must be a map"},
        Fault{"NoRepetitions", "name: a\naxes: {workers: [1]}\nrepetitions: 0\n", "3:14",
              "not between 1"},
        Fault{"RepetitionsAreText", "name: a\naxes: {workers: [1]}\nrepetitions: many\n", "3:14",
              "whole number"},
        Fault{"NegativeLimit", "name: a\naxes: {workers: [1]}\ntime_limit: -3s\n", "3:13",
              "negative"},
        Fault{"TooManyRetries", "name: a\naxes: {workers: [1]}\nretries: 3\n", "3:10",
              "not between 0 and 2"},
        Fault{"RepetitionKey", "name: a\naxes:\n  repetition: [1]\n", "3:16", "repetitions: N"},
        Fault{"ValueThatCannotBe",
              "name: a\ndefaults: {model: 'profile:vgg16', steps: 2}\naxes:\n  workers: [1, 0]\n",
              "4:16", "at least 1"},
        Fault{"UnknownStrategy",
              "name: a\ndefaults: {model: 'profile:vgg16', steps: 2}\naxes:\n  strategy: [rng]\n",
              "4:14", "did you mean 'ring'"},
        Fault{"DefaultThatCannotBe",
              "name: a\ndefaults:\n  model: profile:vgg16\n  steps: 2\n  lr: -1\naxes: {workers: "
              "[1]}\n",
              "5:7", "above 0"},
        Fault{"ServersOfAnIncludedRing",
              "name: a\ndefaults: {model: 'profile:vgg16', steps: 2}\ninclude:\n  - {strategy: "
              "ring, servers: 1}\n",
              "4:31", "has no servers"},
        Fault{"AllExcluded",
              "name: a\ndefaults: {model: 'profile:vgg16', steps: 2}\naxes: {workers: "
              "[1]}\nexclude:\n  - workers: 1\n",
              "1:1", "leaves no run"}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace ringside

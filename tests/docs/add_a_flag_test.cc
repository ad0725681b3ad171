#include "add_a_flag.inc"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ringside/common/core/bucket.h"
#include "ringside/experiments/app/program/main.h"
#include "tests/common/thread_ranks.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;

struct Outcome {
  int exit_code = 0;
  std::string out;
  std::string err;
};

/// Runs the command line of a program that has the example.
Outcome RunProgram(std::vector<std::string> words) {
  words.insert(words.begin(), "own-ringside");
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  const int exit_code =
      Main(static_cast<int>(words.size()), arguments.data(), {.strategies = {ShrunkEntry()}});
  const std::string out = ::testing::internal::GetCapturedStdout();
  return {exit_code, out, ::testing::internal::GetCapturedStderr()};
}

Outcome Train(const std::vector<std::string>& flags) {
  std::vector<std::string> words{"train", "--model", "profile:resnet50", "--steps", "2"};
  words.insert(words.end(), flags.begin(), flags.end());
  return RunProgram(words);
}

/// The first parameter after steps with gradient 1 and learning rate 1.
float ParameterAfter(std::int64_t steps, const StrategyOptions& options) {
  const std::vector<TensorSpec> tensors{{"all", 4}};
  const BucketPlan plan(tensors, {});
  const World world = TestWorld(0, 1);
  const CommOptions comm;
  const Schedule schedule({.base = 1.0});
  const auto optimizer = Optimizer::Make({}, plan.elements());
  InProcessStore store;
  Recorder recorder(0);
  Timeline timeline;
  const StrategyEntry entry = ShrunkEntry();
  const auto strategy = entry.make({world, store, comm, *optimizer, schedule, recorder, timeline,
                                    options.OnlyDeclared(entry.name, entry.options)});
  FlatSpace space(plan.elements());
  strategy->Start(space, plan, {});
  for (std::int64_t step = 0; step < steps; ++step) {
    std::ranges::fill(space.grads(), 1.0F);
    strategy->Submit(MakeBucket(space, plan, 0, step));
    strategy->Await(MakeBucket(space, plan, 0, step));
  }
  strategy->Stop();
  return space.params()[0];
}

TEST(AddAFlagTest, TheExampleReadsItsFlags) {
  EXPECT_EQ(ParameterAfter(3, {}), -3 * 0.5F);
  StrategyOptions options;
  options.Set(kShrink, 0.25);
  options.Set(kFullSteps, 1);
  EXPECT_EQ(ParameterAfter(3, options), -1 - 2 * 0.25F);
}

TEST(AddAFlagTest, HelpShowsTheFlags) {
  const Outcome help = RunProgram({"train", "--help"});
  EXPECT_EQ(help.exit_code, 0) << help.err;
  EXPECT_THAT(help.out, HasSubstr("--shrink X"));
  EXPECT_THAT(help.out, HasSubstr("none-shrunk: what every gradient is multiplied by"));
  EXPECT_THAT(help.out, HasSubstr("--full-steps N"));
}

TEST(AddAFlagTest, AWrongValueIsRefusedWithTheRange) {
  const Outcome zero = Train({"--strategy", "none-shrunk", "--shrink", "0"});
  EXPECT_EQ(zero.exit_code, 2);
  EXPECT_THAT(zero.err, HasSubstr("--shrink: 0 is out of range; give a number that is above 0 and "
                                  "at most 1 (0 would train nothing)"));
  const Outcome text = Train({"--strategy", "none-shrunk", "--full-steps", "many"});
  EXPECT_EQ(text.exit_code, 2);
  EXPECT_THAT(text.err, HasSubstr("--full-steps"));
}

TEST(AddAFlagTest, AnotherStrategyDoesNotTakeIt) {
  const Outcome ring = Train({"--strategy", "ring", "--full-steps", "3"});
  EXPECT_EQ(ring.exit_code, 2);
  EXPECT_THAT(ring.err, HasSubstr("does not read it; none-shrunk can"));
}

}  // namespace
}  // namespace ringside

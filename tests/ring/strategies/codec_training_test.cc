// Tests that no codec costs much accuracy, with a perceptron and made-up samples.
// results/codecs-digits.md has the cost with real samples.
#include <gtest/gtest.h>

#include <string>

#include "ringside/common/codec/codec_table.h"
#include "ringside/common/measure/recorder.h"
#include "tests/common/test_dataset.h"
#include "tests/common/test_job.h"
#include "tests/ring/ring_worker.h"

namespace ringside {
namespace {

constexpr int kWorkers = 4;

TestJobOutcome Train(const std::string& codec) {
  StrategyOptions strategy;
  strategy.codec.seed = 1;
  ParseCodec(codec, BuiltinCodecs(), strategy.codec);
  const TestJobOptions options{
      .workers = kWorkers,
      .model = {.inputs = 12, .hidden = 64, .classes = 4},
      .schedule = {.base = 0.05},
      .plan = {.target_bytes = 2048, .first_bytes = 1024},
      .comm = {.address = "127.0.0.1", .token = "secret", .timeout = std::chrono::seconds(20)},
      .trainer = {.end_step = 150, .global_batch = 16}};
  const TestDataset dataset(240, 120, options.model.inputs, 4);
  return RunTestJob(options, dataset,
                    [&](const StrategyContext& context) {
                      StrategyContext with_codec = {
                          context.world,    context.store,    context.comm,     context.optimizer,
                          context.schedule, context.recorder, context.timeline, strategy};
                      return RingStrategy("ring").make(with_codec);
                    })
      .front();
}

class CodecTrainingTest : public testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Codecs, CodecTrainingTest,
                         testing::Values("fp16", "bf16", "int8", "topk:0.05", "sign", "powersgd:2"),
                         [](const auto& codec) {
                           return codec.param.substr(0, codec.param.find(':'));
                         });

TEST_P(CodecTrainingTest, LearnsAlmostAsWellAsFullGradients) {
  const TestJobOutcome full = Train("fp32");
  const TestJobOutcome encoded = Train(GetParam());
  ASSERT_GE(full.evaluations.back().accuracy, 0.95);
  EXPECT_GE(encoded.evaluations.back().accuracy,
            full.evaluations.back().accuracy.value_or(1) - 0.05);
  EXPECT_NE(encoded.params, full.params);  // it was encoded
  EXPECT_GT(encoded.steps.back().codec_ms, 0);
  EXPECT_EQ(full.steps.back().codec_ms, 0);
}

}  // namespace
}  // namespace ringside

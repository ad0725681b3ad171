// Encoded gradients and parameters between workers and servers, over loopback.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "common/codec/codec.h"
#include "paramserver/ps_strategy.h"
#include "paramserver/refusal.h"
#include "paramserver/wire_codec.h"
#include "tests/paramserver/ps_cluster.h"

namespace ringside {
namespace {

using testing::HasSubstr;

constexpr std::size_t kElements = 20'001;
constexpr std::size_t kBucketBytes = 16 << 10;

CodecOptions CodecOf(const std::string& text, ErrorFeedback feedback = ErrorFeedback::kAuto) {
  CodecOptions options{.error_feedback = feedback, .seed = 3};
  ParseCodec(text, options);
  return options;
}

ClusterOptions OptionsOf(const std::string& codec, int workers) {
  ClusterOptions options{
      .workers = workers, .servers = 2, .elements = kElements, .target_bytes = kBucketBytes};
  options.strategy.codec = CodecOf(codec);
  return options;
}

class PsCodecTest : public testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Codecs, PsCodecTest,
                         testing::Values("fp32", "fp16", "bf16", "int8", "topk:0.1", "sign"),
                         [](const auto& codec) {
                           return codec.param.substr(0, codec.param.find(':'));
                         });

TEST_P(PsCodecTest, AllWorkersHoldTheSameParametersInEveryRun) {
  constexpr int kWorkers = 3;
  std::vector<std::vector<float>> results(2 * kWorkers);
  for (std::size_t run = 0; run < 2; ++run) {
    PsCluster cluster(OptionsOf(GetParam(), kWorkers));
    cluster.Run([&](TestWorker& worker) {
      for (int step = 0; step < 3; ++step) {
        std::mt19937 random(static_cast<unsigned>(10 * step + worker.world.rank));
        std::normal_distribution<float> normal(0, 1e-2F);
        for (float& gradient : worker.space.grads()) gradient = normal(random);
        worker.Step(step);
      }
      const auto params = worker.space.params();
      results[run * kWorkers + static_cast<std::size_t>(worker.world.rank)].assign(params.begin(),
                                                                                   params.end());
    });
  }
  for (const auto& result : results) {
    EXPECT_EQ(0, std::memcmp(result.data(), results[0].data(), kElements * sizeof(float)));
  }
}

// All gradients equal: every codec but top-k has them exactly.
TEST_P(PsCodecTest, WhatTheCodecHasExactlyIsExact) {
  if (GetParam() == "topk:0.1") return;
  PsCluster cluster(OptionsOf(GetParam(), 3));
  cluster.Run([](TestWorker& worker) {
    for (int step = 0; step < 3; ++step) {
      worker.FillGradients(static_cast<float>(worker.world.rank + 1) * 0.5F);
      worker.Step(step);
    }
    for (const float parameter : worker.space.params()) ASSERT_EQ(parameter, -9.0F);
  });
}

TEST_P(PsCodecTest, CountsEncodedBytesAndCodecTime) {
  const CodecOptions codec = CodecOf(GetParam());
  PsCluster cluster(OptionsOf(GetParam(), 2));
  cluster.Run([&](TestWorker& worker) {
    worker.FillGradients(1);
    worker.Step(0);
    std::uint64_t push = 0, reply = 0;
    for (int bucket = 0; bucket < worker.plan.buckets(); ++bucket) {
      push += 4 * WireFloats(codec, worker.plan.range(bucket).size());
      reply += 4 * WireFloats(ReplyCodec(codec), worker.plan.range(bucket).size());
    }
    EXPECT_EQ(worker.recorder.bytes_sent(), push);
    EXPECT_EQ(worker.recorder.bytes_received(), reply);
    EXPECT_EQ(worker.recorder.TakeCodecMs() > 0, GetParam() != "fp32");
  });
}

TEST(PsCodecTest, SettlingBringsFullParameters) {
  PsCluster cluster(OptionsOf("bf16", 2));
  cluster.Run([](TestWorker& worker) {
    for (int step = 0; step < 2; ++step) {
      worker.FillGradients(step == 0 ? 64.0F : 0.25F);  // -128.5 has more bits than bf16
      worker.Step(step);
    }
    const float answered = worker.space.params()[0];
    worker.strategy->Settle();
    EXPECT_NE(worker.space.params()[0], answered);
    EXPECT_NEAR(worker.space.params()[0], answered, std::abs(answered) / 256);
  });
}

TEST(WireCodecTest, DamagedEncodingsAreRefused) {
  const auto codec = MakeWireCodec(CodecOf("topk:0.5"));
  std::vector<std::byte> bytes(4 * WireFloats(CodecOf("topk:0.5"), 10));
  EXPECT_THROW(TakeEncoding(OwnedPayload(bytes), *codec, 10), RefusedError);  // it counts nothing
  bytes.resize(3);
  EXPECT_THROW(TakeEncoding(OwnedPayload(bytes), *codec, 10), RefusedError);
  EXPECT_EQ(MakeWireCodec(CodecOf("fp32")), nullptr);
}

TEST(WireCodecTest, PiecesAreJoined) {
  const std::vector<float> values{1, -2, 3, -4, 5};
  const auto codec = MakeWireCodec(CodecOf("fp16"));
  std::vector<std::byte> bytes(12);
  codec->Encode(values, {}, std::span(bytes).first(10));
  const std::vector<std::size_t> cuts{1, 3, 4, 9};
  const auto whole = TakeEncoding(OwnedPayload(bytes, cuts), *codec, values.size());
  ASSERT_EQ(whole->pieces().size(), 1U);
  std::vector<float> decoded(values.size());
  codec->Decode({whole->pieces().front(), values.size()}, 0, decoded);
  EXPECT_EQ(decoded, values);
}

TEST(WireCodecTest, WhatServersCannotCarryIsRefusedWithTheReason) {
  StrategyOptions options;
  options.codec = CodecOf("powersgd:2");
  EXPECT_THAT(CheckServerCodec(options).value().reason, HasSubstr("two rounds"));
  options.codec = CodecOf("fp32", ErrorFeedback::kOn);
  EXPECT_EQ(CheckServerCodec(options).value().key, "error-feedback");
  options.codec = CodecOf("fp16");
  options.ps_transport = PsTransport::kShm;
  EXPECT_THAT(CheckServerCodec(options).value().reason, HasSubstr("nothing travels"));
  options.ps_transport = PsTransport::kUds;
  EXPECT_FALSE(CheckServerCodec(options));
}

}  // namespace
}  // namespace ringside

// Encoded gradients and parameters between workers and servers, over loopback.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <set>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "ringside/common/base/errors.h"
#include "ringside/common/codec/codec.h"
#include "ringside/common/codec/codec_table.h"
#include "ringside/common/codec/half_codec.h"
#include "ringside/paramserver/transports/transport_table.h"
#include "ringside/paramserver/wire/checksum.h"
#include "ringside/paramserver/wire/refusal.h"
#include "ringside/paramserver/wire/wire_codec.h"
#include "ringside/paramserver/worker/ps_strategy.h"
#include "tests/common/numbers.h"
#include "tests/paramserver/ps_cluster.h"

namespace ringside {
namespace {

using testing::HasSubstr;

constexpr std::size_t kElements = 20'001;
constexpr std::size_t kBucketBytes = 16 << 10;

CodecOptions CodecOf(const std::string& text, ErrorFeedback feedback = ErrorFeedback::kAuto) {
  CodecOptions options{.error_feedback = feedback, .seed = 3};
  ParseCodec(text, BuiltinCodecs(), options);
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
  std::vector<std::vector<float>> results(std::size_t{2} * kWorkers);
  for (std::size_t run = 0; run < 2; ++run) {
    ClusterOptions options = OptionsOf(GetParam(), kWorkers);
    options.strategy.Set(kCheckPushes, run == 1);
    PsCluster cluster(options);
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
    EXPECT_TRUE(SameBits(result, results[0]));
  }
}

/// Codecs that have gradients which are all equal exactly: all but top-k.
class PsExactCodecTest : public PsCodecTest {};

INSTANTIATE_TEST_SUITE_P(Codecs, PsExactCodecTest,
                         testing::Values("fp32", "fp16", "bf16", "int8", "sign"),
                         [](const auto& codec) { return codec.param; });

TEST_P(PsExactCodecTest, EqualGradientsAreExact) {
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

std::mutex encoders_mutex;
std::set<std::thread::id> encoders;  // guarded by encoders_mutex

/// Sends floats as they are and remembers on which threads it encodes.
class RememberingCodec : public Codec {
 public:
  std::size_t EncodedBytes(std::size_t elements) const override { return elements * sizeof(float); }
  void Encode(std::span<const float> values, const GradientPosition&,
              std::span<std::byte> out) override {
    std::ranges::copy(std::as_bytes(values), out.begin());
    const std::lock_guard lock(encoders_mutex);
    encoders.insert(std::this_thread::get_id());
  }
  std::string Validate(const Encoding&) const override { return {}; }
  void Decode(const Encoding& encoding, std::size_t begin, std::span<float> out) const override {
    std::memcpy(out.data(), encoding.bytes.data() + begin * sizeof(float), out.size_bytes());
  }
  void Add(const Encoding& encoding, std::size_t begin, float factor,
           std::span<float> sum) const override {
    std::vector<float> values(sum.size());
    Decode(encoding, begin, values);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += factor * values[i];
  }
};

const CodecEntry kRemembering{
    .name = "remembering",
    .summary = "every float as it is",
    .make = [](const CodecOptions&, int) -> std::unique_ptr<Codec> {
      return std::make_unique<RememberingCodec>();
    },
};

// Else a codec would cost servers a part of the backward pass, and rings nothing of it.
TEST(PsCodecTest, NoGradientIsEncodedOnTheThreadThatSubmitsIt) {
  constexpr int kWorkers = 2;
  ClusterOptions options = OptionsOf("fp32", kWorkers);
  options.strategy.codec.entry = &kRemembering;
  encoders.clear();
  std::mutex mutex;
  std::set<std::thread::id> submitters;
  PsCluster cluster(options);
  cluster.Run([&](TestWorker& worker) {
    for (int step = 0; step < 3; ++step) {
      worker.FillGradients(1);
      worker.Step(step);
    }
    EXPECT_EQ(worker.space.params()[0], -6.0F);
    const std::lock_guard lock(mutex);
    submitters.insert(std::this_thread::get_id());
  });
  EXPECT_EQ(encoders.size(), kWorkers) << "one communication thread a worker";
  for (const std::thread::id& encoder : encoders) EXPECT_FALSE(submitters.contains(encoder));
}

TEST(PsCodecTest, WhatFailsWhileEncodingFailsTheStrategy) {
  static const CodecEntry throwing{
      .name = "throwing",
      .summary = "nothing",
      .make = [](const CodecOptions&, int) -> std::unique_ptr<Codec> {
        class Throwing : public RememberingCodec {
          void Encode(std::span<const float>, const GradientPosition&,
                      std::span<std::byte>) override {
            throw InternalError("this codec encodes nothing");
          }
        };
        return std::make_unique<Throwing>();
      },
  };
  ClusterOptions options = OptionsOf("fp32", 1);
  options.strategy.codec.entry = &throwing;
  PsCluster cluster(options);
  const RankOutcomes outcomes = cluster.TryRun([](TestWorker& worker) {
    worker.strategy->Start(worker.space, worker.plan, {});
    EXPECT_THROW(worker.Step(0), InternalError);
    EXPECT_THROW(worker.Step(1), InternalError) << "for good";
  });
  EXPECT_EQ(outcomes.failures(), 0);
}

std::mutex decoders_mutex;
std::set<std::thread::id> decoders;  // of replies to workers; guarded by decoders_mutex

/// fp16. Remembers the threads that decode whole replies, and may fail there. Servers decode with
/// `Decode` and `Add`, block by block, on threads of their own.
class ScriptedCodec : public HalfCodec {
 public:
  explicit ScriptedCodec(bool fails) : HalfCodec(HalfKind::kFp16), fails_(fails) {}
  void Decode(const Encoding& encoding, std::size_t begin, std::span<float> out) const override {
    HalfCodec::Decode(encoding, begin, out);
    const std::lock_guard lock(decoders_mutex);
    if (out.size() != encoding.elements || !IsOfAWorker(out)) return;
    if (fails_) throw InternalError("scripted");
    decoders.insert(std::this_thread::get_id());
  }

  static inline std::vector<std::span<const float>> params;  // of workers; decoders_mutex guards it

 private:
  static bool IsOfAWorker(std::span<const float> out) {
    return std::ranges::any_of(params, [&](std::span<const float> all) {
      return std::less_equal<>()(all.data(), out.data()) &&
             std::less<>()(out.data(), all.data() + all.size());
    });
  }

  const bool fails_;
};

template <bool fails>
const CodecEntry& ScriptedEntry() {
  static const CodecEntry entry{
      .name = "scripted",
      .summary = "fp16",
      .scheme = AggregationScheme::kReencodedPerHop,
      .to_nearest = true,
      .make = [](const CodecOptions&, int) -> std::unique_ptr<Codec> {
        return std::make_unique<ScriptedCodec>(fails);
      },
  };
  return entry;
}

// Else servers would decode with a core that rings leave to the model.
TEST(PsCodecTest, NoReplyIsDecodedOnTheThreadThatAwaitsIt) {
  constexpr int kWorkers = 2;
  ClusterOptions options = OptionsOf("fp32", kWorkers);
  options.strategy.codec.entry = &ScriptedEntry<false>();
  decoders.clear();
  std::mutex mutex;
  std::set<std::thread::id> callers;
  ScriptedCodec::params.clear();  // nobody decodes yet
  PsCluster cluster(options);
  cluster.Run([&](TestWorker& worker) {
    {
      const std::lock_guard lock(mutex);
      callers.insert(std::this_thread::get_id());
      const std::lock_guard also(decoders_mutex);
      ScriptedCodec::params.push_back(worker.space.params());
    }
    for (int step = 0; step < 3; ++step) {
      worker.FillGradients(1);
      worker.Step(step);
    }
    EXPECT_EQ(worker.space.params()[0], -6.0F);
  });
  EXPECT_FALSE(decoders.empty());
  EXPECT_LE(decoders.size(), kWorkers) << "one communication thread a worker";
  for (const std::thread::id& decoder : decoders) EXPECT_FALSE(callers.contains(decoder));
}

TEST(PsCodecTest, WhatFailsWhileDecodingFailsTheStrategyForGood) {
  ClusterOptions options = OptionsOf("fp32", 1);
  options.strategy.codec.entry = &ScriptedEntry<true>();
  PsCluster cluster(options);
  const RankOutcomes outcomes = cluster.TryRun([&](TestWorker& worker) {
    worker.strategy->Start(worker.space, worker.plan, {});
    {
      const std::lock_guard lock(decoders_mutex);
      ScriptedCodec::params = {worker.space.params()};
    }
    const auto expect_scripted = [](const std::function<void()>& call) {
      try {
        call();
        ADD_FAILURE() << "it has failed before";
      } catch (const InternalError& error) {
        EXPECT_STREQ(error.what(), "scripted");
      }
    };
    expect_scripted([&] {
      worker.FillGradients(1);
      worker.Step(0);
    });
    expect_scripted([&] { worker.Submit(0, 1); });
    expect_scripted([&] { worker.Await(0, 0); });
    expect_scripted([&] { worker.strategy->Settle(); });
    expect_scripted([&] { worker.strategy->Stop(); });
  });
  EXPECT_EQ(outcomes.failures(), 0);
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
  const auto pool = PayloadPool<JoinedPayload>::Make();
  const auto codec = MakeWireCodec(CodecOf("topk:0.5"));
  std::vector<std::byte> bytes(4 * WireFloats(CodecOf("topk:0.5"), 10));
  EXPECT_THROW(TakeEncoding(OwnedPayload(bytes), *codec, 10, *pool),
               RefusedError);  // it counts nothing
  bytes.resize(3);
  EXPECT_THROW(TakeEncoding(OwnedPayload(bytes), *codec, 10, *pool), RefusedError);
  EXPECT_EQ(MakeWireCodec(CodecOf("fp32")), nullptr);
}

TEST(WireCodecTest, PiecesAreJoined) {
  const std::vector<float> values{1, -2, 3, -4, 5};
  const auto pool = PayloadPool<JoinedPayload>::Make();
  const auto codec = MakeWireCodec(CodecOf("fp16"));
  std::vector<std::byte> bytes(12);
  codec->Encode(values, {}, std::span(bytes).first(10));
  const std::vector<std::size_t> cuts{1, 3, 4, 9};
  const auto whole = TakeEncoding(OwnedPayload(bytes, cuts), *codec, values.size(), *pool);
  ASSERT_EQ(whole->pieces().size(), 1U);
  std::vector<float> decoded(values.size());
  codec->Decode({whole->pieces().front(), values.size()}, 0, decoded);
  EXPECT_EQ(decoded, values);
}

TEST(WireCodecTest, WhatServersCannotCarryIsRefusedWithTheReason) {
  const TransportTable transports;
  const TransportEntry& grpc = transports.Named("grpc");
  EXPECT_THAT(CheckServerCodec(CodecOf("powersgd:2"), grpc).value().reason,
              HasSubstr("two rounds"));
  EXPECT_EQ(CheckServerCodec(CodecOf("fp32", ErrorFeedback::kOn), grpc).value().key,
            "error-feedback");
  EXPECT_THAT(CheckServerCodec(CodecOf("fp16"), transports.Named("shm")).value().reason,
              HasSubstr("nothing travels"));
  EXPECT_FALSE(CheckServerCodec(CodecOf("fp16"), transports.Named("uds")));
}

}  // namespace
}  // namespace ringside

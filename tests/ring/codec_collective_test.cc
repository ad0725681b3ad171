// Sums of encoded gradients over Gloo with threads as ranks on loopback.
#include "ringside/ring/collectives/codec_collective.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "ringside/common/codec/codec.h"
#include "ringside/common/codec/codec_table.h"
#include "ringside/common/core/errors.h"
#include "tests/common/thread_ranks.h"

namespace ringside {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

StrategyOptions OptionsOf(const std::string& codec, ErrorFeedback feedback = ErrorFeedback::kAuto) {
  StrategyOptions options;
  options.codec.error_feedback = feedback;
  options.codec.seed = 5;
  ParseCodec(codec, BuiltinCodecs(), options.codec);
  return options;
}

/// The values that a rank sums.
struct Member {
  Member(std::size_t elements, MemoryKind memory = MemoryKind::kOrdinary)
      : plan(std::vector<TensorSpec>{{"a", elements / 3}, {"b", elements - elements / 3}},
             {.target_bytes = 128 << 10, .first_bytes = 1 << 10}),
        space(memory == MemoryKind::kShared ? FlatSpace(elements, "test") : FlatSpace(elements)) {}

  BucketMessage Message(int bucket, std::int64_t step) const {
    const BucketPlan::Range& range = plan.range(bucket);
    return {space.grads().subspan(range.begin, range.size()), range.begin, bucket, step};
  }

  BucketPlan plan;
  FlatSpace space;
  Recorder recorder{1};
  Timeline timeline;
};

struct Setting {
  const CollectiveEntry* entry;
  std::string codec;
  int world;
};

class CodecCollectiveTest : public testing::TestWithParam<Setting> {
 protected:
  using Body = std::function<void(Collective& sum, Member& member, int rank)>;

  void OnEveryRank(std::size_t elements, const StrategyOptions& options, const Body& body) {
    InProcessStore store;
    const CommOptions comm{.address = "127.0.0.1", .token = "secret", .timeout = 5s};
    RunRanks(world(), [&](int rank) {
      World self = TestWorld(rank, world());
      self.host = "host " + std::to_string(rank / 2);  // where hosts matter
      Member member(elements, GetParam().entry->memory);
      const auto sum = MakeSum(*GetParam().entry, {self, store, comm, options, "g"},
                               member.recorder, member.timeline);
      sum->Prepare(member.space, member.plan);
      body(*sum, member, rank);
      sum->AllGather({});
    });
  }
  int world() const { return GetParam().world; }
};

std::vector<Setting> Settings() {
  std::vector<Setting> settings;
  for (const int world : {1, 2, 3, 4, 7}) {
    for (const char* codec :
         {"fp32", "fp16", "bf16", "int8", "topk:0.01", "topk:0.2", "sign", "powersgd:2"}) {
      settings.push_back({&kRingCollective, codec, world});
    }
  }
  for (const CollectiveEntry* entry : CollectiveTable()) {
    // `auto` has tests of its own: it may pick another algorithm, and so round otherwise.
    const bool here = entry->make_encoded != nullptr && entry != &kAutoCollective;
    if (!here || entry == &kRingCollective) continue;
    for (const char* codec : {"fp16", "int8", "topk:0.2", "powersgd:2"}) {
      if (CheckCodecOn(*entry, OptionsOf(codec).codec)) continue;
      for (const int world : {3, 4}) settings.push_back({entry, codec, world});
    }
  }
  return settings;
}

std::string NameOf(const testing::TestParamInfo<Setting>& info) {
  std::string name = std::string(info.param.entry->name) + "_" + info.param.codec + "_" +
                     std::to_string(info.param.world);
  std::ranges::replace_if(
      name, [](char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

/// Those of which a test says something. A world of one encodes nothing.
std::vector<Setting> SettingsWhere(const std::function<bool(const Setting&)>& wanted) {
  std::vector<Setting> settings = Settings();
  std::erase_if(settings, [&](const Setting& setting) { return !wanted(setting); });
  return settings;
}

INSTANTIATE_TEST_SUITE_P(Ways, CodecCollectiveTest, testing::ValuesIn(Settings()), NameOf);

void FillRandomly(std::span<float> values, int rank, int step) {
  std::mt19937 random(static_cast<unsigned>(100 * step + rank));
  std::normal_distribution<float> normal(0, 1e-2F);
  for (float& value : values) value = normal(random);
}

TEST_P(CodecCollectiveTest, AllRanksHoldTheSameBitsInEveryRun) {
  for (const std::size_t elements : {1, 8, 70'001}) {
    std::vector<std::vector<float>> results(2 * static_cast<std::size_t>(world()));
    for (std::size_t run = 0; run < 2; ++run) {
      OnEveryRank(elements, OptionsOf(GetParam().codec), [&](Collective& sum, Member& m, int rank) {
        for (int step = 0; step < 2; ++step) {
          FillRandomly(m.space.grads(), rank, step);
          for (int b = 0; b < m.plan.buckets(); ++b) sum.AllReduceSum(m.Message(b, step));
        }
        results[run * static_cast<std::size_t>(world()) + static_cast<std::size_t>(rank)].assign(
            m.space.grads().begin(), m.space.grads().end());
      });
    }
    for (const auto& result : results) {
      ASSERT_EQ(0, std::memcmp(result.data(), results[0].data(), elements * sizeof(float)))
          << elements;
    }
  }
}

/// The same gradients in every step, of each rank its own: how far the total of the sums is from
/// the total of what was put in.
struct Drift {
  std::vector<double> error;      // by element
  std::vector<double> expected;   // of one step
  std::vector<double> magnitude;  // of one step: of all ranks together
};

constexpr int kDriftSteps = 100;

Drift DriftOf(Collective& sum, Member& m, int rank, int world) {
  const std::size_t elements = m.space.size();
  Drift drift{std::vector<double>(elements), std::vector<double>(elements),
              std::vector<double>(elements)};
  for (int each = 0; each < world; ++each) {
    FillRandomly(m.space.grads(), each, 0);
    for (std::size_t i = 0; i < elements; ++i) {
      drift.expected[i] += static_cast<double>(m.space.grads()[i]);
      drift.magnitude[i] += std::abs(static_cast<double>(m.space.grads()[i]));
    }
  }
  for (int step = 0; step < kDriftSteps; ++step) {
    FillRandomly(m.space.grads(), rank, 0);
    for (int b = 0; b < m.plan.buckets(); ++b) sum.AllReduceSum(m.Message(b, step));
    for (std::size_t i = 0; i < elements; ++i) {
      drift.error[i] += static_cast<double>(m.space.grads()[i]) - drift.expected[i];
    }
  }
  return drift;
}

double Length(std::span<const double> values) {
  double square = 0;
  for (const double value : values) square += value * value;
  return std::sqrt(square);
}

/// Whether no element has lost more than every rank's last residual may hold: what rounding takes
/// from one encoding.
bool IsWithinResiduals(const Drift& drift, const std::string& codec, int world) {
  const double largest = *std::ranges::max_element(drift.magnitude);
  for (std::size_t i = 0; i < drift.error.size(); ++i) {
    const double rounding = codec == "int8"   ? largest / 127
                            : codec == "bf16" ? drift.magnitude[i] * 0x1p-8
                                              : drift.magnitude[i] * 0x1p-11 + 0x1p-25;
    // Sums of floats, and the residual that is encoded along, add a little.
    if (std::abs(drift.error[i]) > world * (1.1 * rounding + 1e-7)) return false;
  }
  return true;
}

bool RoundsOnItsWay(const std::string& codec) {
  return codec == "fp16" || codec == "bf16" || codec == "int8";
}

/// With error feedback. A hundredth of the elements takes more steps to be through than are run.
class ErrorFeedbackTest : public CodecCollectiveTest {};

INSTANTIATE_TEST_SUITE_P(Ways, ErrorFeedbackTest,
                         testing::ValuesIn(SettingsWhere([](const Setting& setting) {
                           if (setting.world == 1 || setting.codec == "topk:0.01") return false;
                           return !CheckCodecOn(*setting.entry,
                                                OptionsOf(setting.codec, ErrorFeedback::kOn).codec);
                         })),
                         NameOf);

// Nothing is lost for good: the totals differ by what the ranks still keep.
TEST_P(ErrorFeedbackTest, BringsEverythingInTheEnd) {
  const std::string codec = GetParam().codec;
  const StrategyOptions options = OptionsOf(codec, ErrorFeedback::kOn);
  OnEveryRank(2000, options, [&](Collective& sum, Member& m, int rank) {
    const Drift drift = DriftOf(sum, m, rank, world());
    if (RoundsOnItsWay(codec)) {
      EXPECT_TRUE(IsWithinResiduals(drift, codec, world()));
    } else {
      EXPECT_LT(Length(drift.error), 0.25 * kDriftSteps * Length(drift.expected));
    }
  });
}

class RoundingTest : public CodecCollectiveTest {};

INSTANTIATE_TEST_SUITE_P(Ways, RoundingTest,
                         testing::ValuesIn(SettingsWhere([](const Setting& setting) {
                           return setting.world > 1 && setting.codec == "bf16";
                         })),
                         NameOf);

TEST_P(RoundingTest, AddsUpWithoutErrorFeedback) {
  OnEveryRank(2000, OptionsOf("bf16", ErrorFeedback::kOff),
              [&](Collective& sum, Member& m, int rank) {
                EXPECT_FALSE(IsWithinResiduals(DriftOf(sum, m, rank, world()), "bf16", world()));
              });
}

class CodecBytesTest : public CodecCollectiveTest {};

INSTANTIATE_TEST_SUITE_P(Ways, CodecBytesTest,
                         testing::ValuesIn(SettingsWhere([](const Setting& setting) {
                           return setting.world > 1;
                         })),
                         NameOf);

TEST_P(CodecBytesTest, AreThoseThatTheReadmeStates) {
  const StrategyOptions options = OptionsOf(GetParam().codec);
  OnEveryRank(100'000, options, [&](Collective& sum, Member& m, int rank) {
    const std::uint64_t before = sum.traffic().sent;
    double wire = 0;
    for (int b = 0; b < m.plan.buckets(); ++b) {
      sum.AllReduceSum(m.Message(b, 0));
      wire += static_cast<double>(WireBytes(options.codec, m.plan.range(b).size()));
    }
    const double n = world();
    const bool gathered = options.codec.entry->scheme == AggregationScheme::kGathered;
    const double shares = gathered ? n - 1 : 2 * (n - 1) / n;
    const auto sent = static_cast<double>(sum.traffic().sent - before);
    const bool flat = GetParam().entry != &kHierarchicalCollective;
    if (GetParam().entry == &kRingCollective || (gathered && flat)) {
      // Chunks are not all equally long, and each segment has its scale.
      EXPECT_NEAR(sent, shares * wire, 0.03 * shares * wire + 1000);
    }
    // A worker beyond those of the smallest host sends nothing across.
    const bool encodes = options.codec.encodes() && (flat || rank % 2 == 0);
    EXPECT_GT(m.recorder.TakeCodecMs(), encodes ? 0 : -1);
  });
}

/// Two hosts with two workers each.
class TwoHostsTest : public CodecCollectiveTest {};

INSTANTIATE_TEST_SUITE_P(Ways, TwoHostsTest,
                         testing::ValuesIn(SettingsWhere([](const Setting& setting) {
                           return setting.entry == &kHierarchicalCollective && setting.world == 4 &&
                                  RoundsOnItsWay(setting.codec);
                         })),
                         NameOf);

TEST_P(TwoHostsTest, EncodeWhatCrossesThem) {
  const StrategyOptions options = OptionsOf(GetParam().codec);
  OnEveryRank(100'000, options, [&](Collective& sum, Member& m, int) {
    const std::uint64_t before = sum.traffic().sent;
    double wire = 0;
    for (int b = 0; b < m.plan.buckets(); ++b) {
      sum.AllReduceSum(m.Message(b, 0));
      wire += static_cast<double>(WireBytes(options.codec, m.plan.range(b).size()));
    }
    // Two hosts exchange all of it, in two lanes.
    EXPECT_NEAR(static_cast<double>(sum.traffic().sent - before), wire / 2, 0.02 * wire + 1000);
  });
}

TEST(CodecCheckTest, WhatCannotBeEncodedOnItsWayIsRefusedWithTheReason) {
  const auto reason = [](const CollectiveEntry& entry, const char* codec, ErrorFeedback feedback) {
    const auto refusal = CheckCodecOn(entry, OptionsOf(codec, feedback).codec);
    return refusal ? refusal->key + ": " + refusal->reason : "";
  };
  const auto by_itself = [&](const CollectiveEntry& entry, const char* codec) {
    return reason(entry, codec, ErrorFeedback::kAuto);
  };
  EXPECT_THAT(by_itself(kMpiCollective, "fp16"), HasSubstr("adds up floats by itself"));
  EXPECT_THAT(by_itself(kShmCollective, "bf16"), HasSubstr("nothing travels"));
  EXPECT_THAT(by_itself(kRecursiveDoublingCollective, "int8"), HasSubstr("several ranks encode"));
  EXPECT_THAT(reason(kRecursiveDoublingCollective, "fp16", ErrorFeedback::kOn),
              HasSubstr("without error feedback"));
  EXPECT_EQ(by_itself(kRecursiveDoublingCollective, "bf16"), "");
  EXPECT_EQ(by_itself(kMpiCollective, "topk:0.1"), "");
  EXPECT_EQ(by_itself(kTreeCollective, "int8"), "");
  EXPECT_THAT(reason(kTreeCollective, "fp32", ErrorFeedback::kOn), HasSubstr("fp32 loses nothing"));
}

class HalfPrecisionTest : public CodecCollectiveTest {};

INSTANTIATE_TEST_SUITE_P(Ways, HalfPrecisionTest,
                         testing::ValuesIn(SettingsWhere([](const Setting& setting) {
                           return setting.codec == "fp16" || setting.codec == "bf16";
                         })),
                         NameOf);

TEST_P(HalfPrecisionTest, SumsSmallIntegersExactly) {
  OnEveryRank(70'001, OptionsOf(GetParam().codec), [&](Collective& sum, Member& m, int rank) {
    for (std::size_t i = 0; i < m.space.size(); ++i) {
      m.space.grads()[i] = static_cast<float>(i % 7) * static_cast<float>(rank + 1);
    }
    for (int b = 0; b < m.plan.buckets(); ++b) sum.AllReduceSum(m.Message(b, 0));
    const auto factor = static_cast<float>(world() * (world() + 1) / 2);
    for (std::size_t i = 0; i < m.space.size(); ++i) {
      ASSERT_EQ(m.space.grads()[i], static_cast<float>(i % 7) * factor) << i;
    }
  });
}

/// A collective whose gathered bytes are damaged on their way.
class DamagingCollective : public Collective {
 public:
  explicit DamagingCollective(std::unique_ptr<Collective> inner) : inner_(std::move(inner)) {}
  void AllReduceSum(const BucketMessage& message) override { inner_->AllReduceSum(message); }
  void Broadcast(std::span<std::byte> data, int root) override { inner_->Broadcast(data, root); }
  void AllGatherInto(std::span<const std::byte> mine, std::vector<std::byte>& all) override {
    inner_->AllGatherInto(mine, all);
    if (all.size() > mine.size()) all[mine.size()] ^= std::byte{0x40};
  }
  Traffic traffic() const override { return inner_->traffic(); }

 private:
  std::unique_ptr<Collective> inner_;
};

TEST(CodecCollectiveFaultTest, DamagedBytesAreAnErrorThatNamesTheirSender) {
  const CollectiveEntry damaging{
      .name = "damaging",
      .summary = "damages what is gathered",
      .make = [](const CollectiveContext& context) {
        return std::unique_ptr<Collective>(
            std::make_unique<DamagingCollective>(kRingCollective.make(context)));
      }};
  InProcessStore store;
  const CommOptions comm{.address = "127.0.0.1", .token = "secret", .timeout = 5s};
  const StrategyOptions options = OptionsOf("topk:0.1");
  RunRanks(2, [&](int rank) {
    const World self = TestWorld(rank, 2);
    Member member(1000);
    const auto sum =
        MakeSum(damaging, {self, store, comm, options, "g"}, member.recorder, member.timeline);
    sum->Prepare(member.space, member.plan);
    try {
      sum->AllReduceSum(member.Message(0, 0));
      ADD_FAILURE() << "the first count is wrong";
    } catch (const CommError& error) {
      EXPECT_EQ(error.peer(), "worker 1");
      EXPECT_EQ(error.operation(), "sum of bucket 0, step 0");
      EXPECT_THAT(error.what(), HasSubstr("counts"));
    }
    EXPECT_THROW(sum->AllReduceSum(member.Message(0, 1)), CommError);
    EXPECT_THROW(sum->Broadcast(std::as_writable_bytes(member.space.params()), 0), CommError);
    EXPECT_THROW(sum->AllGather({}), CommError);
    EXPECT_GT(sum->traffic().sent, 0U);
  });
}

TEST(CodecCollectiveStepsTest, ShowTheStepOfTheMessage) {
  InProcessStore store;
  const CommOptions comm{.address = "127.0.0.1", .token = "secret", .timeout = 5s};
  for (const char* codec : {"fp16", "topk:0.1", "powersgd:1"}) {
    const StrategyOptions options = OptionsOf(codec);
    RunRanks(2, [&](int rank) {
      const World self = TestWorld(rank, 2);
      Member member(1000);
      Timeline timeline(1000);
      const auto sum =
          MakeSum(kRingCollective, {self, store, comm, options, codec}, member.recorder, timeline);
      sum->Prepare(member.space, member.plan);
      for (int step = 5; step < 7; ++step) sum->AllReduceSum(member.Message(0, step));
      sum->AllGather({});
      std::set<std::int64_t> steps;
      for (const TimelineSpan& span : timeline.Take()) {
        if (span.kind == SpanKind::kCodec) steps.insert(span.step);
      }
      EXPECT_THAT(steps, ElementsAre(5, 6)) << codec;
    });
  }
}

/// What a sum of `message` throws.
std::string InternalErrorOf(Collective& sum, const BucketMessage& message) {
  try {
    sum.AllReduceSum(message);
  } catch (const InternalError& error) {
    return error.what();
  }
  return "nothing";
}

TEST(CodecCollectiveFaultTest, AMessageThatIsNotOfItsBucketIsNamed) {
  InProcessStore store;
  const CommOptions comm{.address = "127.0.0.1", .token = "secret", .timeout = 5s};
  for (const char* codec : {"fp16", "topk:0.1", "powersgd:1"}) {
    const StrategyOptions options = OptionsOf(codec);
    RunRanks(2, [&](int rank) {
      const World self = TestWorld(rank, 2);
      Member member(1000);
      const auto sum = MakeSum(kRingCollective, {self, store, comm, options, codec},
                               member.recorder, member.timeline);
      sum->Prepare(member.space, member.plan);
      BucketMessage elsewhere = member.Message(0, 3);
      elsewhere.offset += 1;
      EXPECT_THAT(InternalErrorOf(*sum, elsewhere), HasSubstr("bucket 0, step 3")) << codec;
      BucketMessage of_no_bucket = member.Message(0, 3);
      of_no_bucket.bucket = member.plan.buckets();
      EXPECT_THAT(InternalErrorOf(*sum, of_no_bucket), HasSubstr("the plan has")) << codec;
      sum->AllGather({});
    });
  }
}

TEST(CodecCollectiveFaultTest, OnlyWholeBucketsAreGatheredOrFactored) {
  InProcessStore store;
  const CommOptions comm{.address = "127.0.0.1", .token = "secret", .timeout = 5s};
  for (const char* codec : {"topk:0.1", "powersgd:1"}) {
    const StrategyOptions options = OptionsOf(codec);
    RunRanks(2, [&](int rank) {
      const World self = TestWorld(rank, 2);
      Member member(1000);
      const auto sum = MakeSum(kRingCollective, {self, store, comm, options, codec},
                               member.recorder, member.timeline);
      sum->Prepare(member.space, member.plan);
      const BucketMessage part = member.Message(0, 0).Piece(1, 10);
      EXPECT_THAT(InternalErrorOf(*sum, part), HasSubstr("bucket 0, step 0")) << codec;
      sum->AllGather({});
    });
  }
}

}  // namespace
}  // namespace ringside

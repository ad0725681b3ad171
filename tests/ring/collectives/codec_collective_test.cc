// Tests sums of encoded gradients over Gloo, with threads as ranks: their values, their bytes, and
// what is refused.
#include "ringside/ring/collectives/codec_collective.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "ringside/common/codec/codec.h"
#include "ringside/ring/algorithms/recursive_doubling.h"
#include "ringside/ring/algorithms/tree_all_reduce.h"
#include "ringside/ring/collectives/link_collective_entry.h"
#include "tests/common/numbers.h"
#include "tests/common/thread_ranks.h"
#include "tests/ring/collectives/codec_collective_testing.h"

namespace ringside {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

INSTANTIATE_TEST_SUITE_P(Ways, CodecCollectiveTest, testing::ValuesIn(CodecSettings()),
                         NameOfCodecSetting);

TEST_P(CodecCollectiveTest, AllRanksHoldTheSameBitsInEveryRun) {
  for (const std::size_t elements : {1, 8, 70'001}) {
    std::vector<std::vector<float>> results(2 * static_cast<std::size_t>(world()));
    for (std::size_t run = 0; run < 2; ++run) {
      OnEveryRank(
          elements, CodecOptionsOf(GetParam().codec),
          [&](Collective& sum, CodecMember& m, int rank) {
            for (int step = 0; step < 2; ++step) {
              FillRandomly(m.space.grads(), rank, step);
              for (int b = 0; b < m.plan.buckets(); ++b) sum.AllReduceSum(m.Message(b, step));
            }
            results[run * static_cast<std::size_t>(world()) + static_cast<std::size_t>(rank)]
                .assign(m.space.grads().begin(), m.space.grads().end());
          });
    }
    for (const auto& result : results) {
      ASSERT_TRUE(SameBits(result, results[0])) << elements;
    }
  }
}

class HalfPrecisionTest : public CodecCollectiveTest {};

INSTANTIATE_TEST_SUITE_P(Ways, HalfPrecisionTest,
                         testing::ValuesIn(CodecSettingsWhere([](const CodecSetting& setting) {
                           return setting.codec == "fp16" || setting.codec == "bf16";
                         })),
                         NameOfCodecSetting);

TEST_P(HalfPrecisionTest, SumsSmallIntegersExactly) {
  OnEveryRank(70'001, CodecOptionsOf(GetParam().codec),
              [&](Collective& sum, CodecMember& m, int rank) {
                for (std::size_t i = 0; i < m.space.size(); ++i) {
                  m.space.grads()[i] = static_cast<float>(i % 7) * static_cast<float>(rank + 1);
                }
                for (int b = 0; b < m.plan.buckets(); ++b) sum.AllReduceSum(m.Message(b, 0));
                const float factor = SumUpTo(world());
                for (std::size_t i = 0; i < m.space.size(); ++i) {
                  ASSERT_EQ(m.space.grads()[i], static_cast<float>(i % 7) * factor) << i;
                }
              });
}

bool IsFlat(const CodecSetting& setting) {
  return setting.entry.topology != Topology::kRingOfHosts;
}

bool IsGathered(const CodecSetting& setting) {
  return CodecOptionsOf(setting.codec).codec.entry->scheme == AggregationScheme::kGathered;
}

class CodecBytesTest : public CodecCollectiveTest {};

INSTANTIATE_TEST_SUITE_P(Ways, CodecBytesTest,
                         testing::ValuesIn(CodecSettingsWhere([](const CodecSetting& setting) {
                           return setting.world > 1 && (setting.entry.topology == Topology::kRing ||
                                                        (IsGathered(setting) && IsFlat(setting)));
                         })),
                         NameOfCodecSetting);

TEST_P(CodecBytesTest, AreThoseThatTheReadmeStates) {
  const StrategyOptions options = CodecOptionsOf(GetParam().codec);
  OnEveryRank(100'000, options, [&](Collective& sum, CodecMember& m, int) {
    const std::uint64_t before = sum.traffic().sent;
    double wire = 0;
    for (int b = 0; b < m.plan.buckets(); ++b) {
      sum.AllReduceSum(m.Message(b, 0));
      wire += static_cast<double>(WireBytes(options.codec, m.plan.range(b).size()));
    }
    const double n = world();
    const double shares = IsGathered(GetParam()) ? n - 1 : 2 * (n - 1) / n;
    // Chunks are not all equally long, and each segment has its scale.
    EXPECT_NEAR(static_cast<double>(sum.traffic().sent - before), shares * wire,
                0.03 * shares * wire + 1000);
    EXPECT_EQ(sum.segment_bytes() > 0, !IsGathered(GetParam()));
  });
}

class CodecTimeTest : public CodecCollectiveTest {};

INSTANTIATE_TEST_SUITE_P(Ways, CodecTimeTest,
                         testing::ValuesIn(CodecSettingsWhere([](const CodecSetting& setting) {
                           return setting.world > 1;
                         })),
                         NameOfCodecSetting);

TEST_P(CodecTimeTest, IsThatOfWorkersThatEncode) {
  const StrategyOptions options = CodecOptionsOf(GetParam().codec);
  OnEveryRank(100'000, options, [&](Collective& sum, CodecMember& m, int rank) {
    for (int b = 0; b < m.plan.buckets(); ++b) sum.AllReduceSum(m.Message(b, 0));
    // The second worker of the first of two hosts has no partner on the other one, so it sends
    // nothing. Codecs that every worker applies to its own gradient do not encode per hop.
    const bool per_hop =
        options.codec.entry->scheme == AggregationScheme::kReencodedPerHop && !IsFlat(GetParam());
    const bool without_partner = per_hop && world() == 3 && rank == 1;
    if (options.codec.encodes() && !without_partner) {
      EXPECT_GT(m.recorder.TakeCodecMs(), 0);
    } else {
      EXPECT_EQ(m.recorder.TakeCodecMs(), 0);
    }
  });
}

/// Two hosts with two workers each.
class TwoHostsTest : public CodecCollectiveTest {};

INSTANTIATE_TEST_SUITE_P(Ways, TwoHostsTest,
                         testing::ValuesIn(CodecSettingsWhere([](const CodecSetting& setting) {
                           return setting.entry.topology == Topology::kRingOfHosts &&
                                  setting.world == 4 && RoundsOnItsWay(setting.codec);
                         })),
                         NameOfCodecSetting);

TEST_P(TwoHostsTest, EncodeWhatCrossesThem) {
  const StrategyOptions options = CodecOptionsOf(GetParam().codec);
  OnEveryRank(100'000, options, [&](Collective& sum, CodecMember& m, int) {
    const std::uint64_t before = sum.traffic().sent;
    double wire = 0;
    for (int b = 0; b < m.plan.buckets(); ++b) {
      sum.AllReduceSum(m.Message(b, 0));
      wire += static_cast<double>(WireBytes(options.codec, m.plan.range(b).size()));
    }
    // Two hosts exchange all bytes over two links; a worker sends half of them.
    EXPECT_NEAR(static_cast<double>(sum.traffic().sent - before), wire / 2, 0.02 * wire + 1000);
  });
}

TEST(CodecCheckTest, WhatCannotBeEncodedOnItsWayIsRefusedWithTheReason) {
  const auto reason = [](const CollectiveEntry& entry, const char* codec, ErrorFeedback feedback) {
    const auto refusal = CheckCodecOn(entry, CodecOptionsOf(codec, feedback).codec);
    return refusal ? refusal->key + ": " + refusal->reason : "";
  };
  const auto by_itself = [&](const CollectiveEntry& entry, const char* codec) {
    return reason(entry, codec, ErrorFeedback::kAuto);
  };
  const CollectiveEntry recursive_doubling = LinkCollectiveEntry(kRecursiveDoublingAlgorithm);
  const CollectiveEntry tree = LinkCollectiveEntry(kTreeAlgorithm);
  EXPECT_THAT(by_itself(MpiCollectiveEntry(), "fp16"), HasSubstr("adds up floats by itself"));
  EXPECT_THAT(by_itself(ShmCollectiveEntry(), "bf16"), HasSubstr("nothing travels"));
  EXPECT_THAT(by_itself(recursive_doubling, "int8"),
              AllOf(HasSubstr("several ranks encode"),
                    HasSubstr("or strategy ring, halving-doubling or tree")));
  EXPECT_THAT(reason(recursive_doubling, "fp16", ErrorFeedback::kOn),
              HasSubstr("without error feedback"));
  EXPECT_EQ(by_itself(recursive_doubling, "bf16"), "");
  EXPECT_EQ(by_itself(MpiCollectiveEntry(), "topk:0.1"), "");
  EXPECT_EQ(by_itself(tree, "int8"), "");
  EXPECT_THAT(reason(tree, "fp32", ErrorFeedback::kOn), HasSubstr("fp32 loses nothing"));
}

TEST(CodecCollectiveStepsTest, ShowTheStepOfTheMessage) {
  InProcessStore store;
  const CommOptions comm = TestComm();
  for (const char* codec : {"fp16", "topk:0.1", "powersgd:1"}) {
    const StrategyOptions options = CodecOptionsOf(codec);
    RunRanks(2, [&](int rank) {
      const World self = TestWorld(rank, 2);
      CodecMember member(1000);
      Timeline timeline(TimelineCapacity{.spans = 1000});
      const auto sum =
          MakeSum(RingEntry(), {self, store, comm, options, codec}, member.recorder, timeline);
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

}  // namespace
}  // namespace ringside

// Tests damaged bytes and messages that do not fit the plan.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ringside/common/base/errors.h"
#include "tests/common/thread_ranks.h"
#include "tests/ring/collectives/codec_collective_testing.h"

namespace ringside {
namespace {

using testing::HasSubstr;

/// A collective that damages the bytes that it gathers.
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
            std::make_unique<DamagingCollective>(RingEntry().make(context)));
      }};
  InProcessStore store;
  const CommOptions comm = TestComm();
  const StrategyOptions options = CodecOptionsOf("topk:0.1");
  RunRanks(2, [&](int rank) {
    const World self = TestWorld(rank, 2);
    CodecMember member(1000);
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

TEST(CodecCollectivePrepareTest, ASumBeforeItIsAnErrorAndASecondOneReplacesTheFirst) {
  InProcessStore store;
  const CommOptions comm = TestComm();
  for (const char* codec : {"fp16", "topk:0.1", "powersgd:1"}) {
    const StrategyOptions options = CodecOptionsOf(codec);
    RunRanks(2, [&](int rank) {
      const World self = TestWorld(rank, 2);
      CodecMember small(10);
      CodecMember member(1000);
      const auto make = [&](const std::string& prefix) {
        return MakeSum(RingEntry(), {self, store, comm, options, prefix}, member.recorder,
                       member.timeline);
      };
      const auto sum = make(codec);
      try {
        sum->AllReduceSum(member.Message(0, 3));
        ADD_FAILURE() << codec << " has no plan";
      } catch (const InternalError& error) {
        EXPECT_THAT(error.what(), HasSubstr("bucket 0, step 3"));
        EXPECT_THAT(error.what(), HasSubstr("Prepare"));
      }
      sum->Prepare(small.space, small.plan);
      const auto once = make(std::string(codec) + " once");
      const auto sums_of = [&](Collective& collective) {
        collective.Prepare(member.space, member.plan);
        for (std::size_t i = 0; i < member.space.size(); ++i) {
          member.space.grads()[i] = static_cast<float>((i * i + 1) % 17);
        }
        for (int b = 0; b < member.plan.buckets(); ++b) {
          collective.AllReduceSum(member.Message(b, 3));
        }
        const std::span<const float> sums = member.space.grads();
        return std::vector<float>(sums.begin(), sums.end());
      };
      EXPECT_EQ(sums_of(*sum), sums_of(*once)) << codec;
      once->AllGather({});
    });
  }
}

/// The message of the error that a sum of `message` throws.
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
  const CommOptions comm = TestComm();
  for (const char* codec : {"fp16", "topk:0.1", "powersgd:1"}) {
    const StrategyOptions options = CodecOptionsOf(codec);
    RunRanks(2, [&](int rank) {
      const World self = TestWorld(rank, 2);
      CodecMember member(1000);
      const auto sum = MakeSum(RingEntry(), {self, store, comm, options, codec}, member.recorder,
                               member.timeline);
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
  const CommOptions comm = TestComm();
  for (const char* codec : {"topk:0.1", "powersgd:1"}) {
    const StrategyOptions options = CodecOptionsOf(codec);
    RunRanks(2, [&](int rank) {
      const World self = TestWorld(rank, 2);
      CodecMember member(1000);
      const auto sum = MakeSum(RingEntry(), {self, store, comm, options, codec}, member.recorder,
                               member.timeline);
      sum->Prepare(member.space, member.plan);
      const BucketMessage part = member.Message(0, 0).Piece(1, 10);
      EXPECT_THAT(InternalErrorOf(*sum, part), HasSubstr("bucket 0, step 0")) << codec;
      sum->AllGather({});
    });
  }
}

}  // namespace
}  // namespace ringside

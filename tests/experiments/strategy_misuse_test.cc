// Tests that every strategy refuses calls that its contract forbids.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "ringside/common/base/errors.h"
#include "tests/experiments/strategy_conformance_testing.h"

namespace ringside::conformance {
namespace {

/// The text of the `InternalError` that refuses a call against the contract.
std::string RefusalOf(const std::function<void()>& call) {
  try {
    call();
  } catch (const InternalError& error) {
    return error.what();
  } catch (const std::exception& error) {
    return std::string("no InternalError, but: ") + error.what();
  }
  return "no error";
}

/// All entries, with calls that the contract forbids.
class MisuseTest : public StrategyConformanceTest {
 protected:
  static void ExpectAllAreRefused(Worker& worker, const std::string& when) {
    using testing::HasSubstr;
    Strategy& strategy = worker.strategy();
    const Bucket bucket = worker.BucketOf(1, 4);
    const auto named = testing::AllOf(HasSubstr("bucket 1, step 4"), HasSubstr(when));
    std::vector<float> state(worker.optimizer().state_size());
    EXPECT_THAT(RefusalOf([&] { strategy.Submit(bucket); }), named);
    EXPECT_THAT(RefusalOf([&] { strategy.Await(bucket); }), named);
    EXPECT_THAT(RefusalOf([&] { strategy.Settle(); }), HasSubstr(when));
    EXPECT_THAT(RefusalOf([&] { strategy.ReadOptimizerState(state); }), HasSubstr(when));
    EXPECT_THAT(RefusalOf([&] { strategy.State(); }), HasSubstr(when));
    EXPECT_THAT(RefusalOf([&] { strategy.Stop(); }), HasSubstr(when));
  }

  static std::vector<Bucket> WrongBuckets(const Worker& worker, const FlatSpace& foreign) {
    const Bucket right = worker.BucketOf(1, 4);
    std::vector<Bucket> wrong(7, right);
    wrong[0].index = -1;
    wrong[1].index = worker.buckets();
    wrong[2].index = 0;
    wrong[3].offset += 1;
    wrong[4].grads = right.grads.first(right.grads.size() - 1);
    wrong[5].params = foreign.params().subspan(right.offset, right.params.size());
    wrong[6].grads = right.params;
    return wrong;
  }
};

TEST_P(MisuseTest, IsRefusedByTheBucketsNameAndChangesNothing) {
  using testing::HasSubstr;
  constexpr std::size_t kElements = 1000;
  Job job(GetParam());
  RunRanks(workers(), [&](int rank) {
    Worker worker(job, rank, kElements);
    Strategy& strategy = worker.strategy();
    ASSERT_GT(worker.buckets(), 1);
    ExpectAllAreRefused(worker, "before the start");
    worker.Start();
    EXPECT_THAT(RefusalOf([&] { worker.StartAgain(); }), HasSubstr("twice"));
    const FlatSpace foreign(kElements);
    for (const Bucket& wrong : WrongBuckets(worker, foreign)) {
      const auto named = HasSubstr("bucket " + std::to_string(wrong.index) + ", step 4");
      EXPECT_THAT(RefusalOf([&] { strategy.Submit(wrong); }), named);
      EXPECT_THAT(RefusalOf([&] { strategy.Await(wrong); }), named);
    }
    for (std::int64_t step = 0; step < kSteps; ++step) {
      worker.Step(step);
      for (int index = 0; index < worker.buckets(); ++index) {
        const std::string name = "bucket " + std::to_string(index) + ", step ";
        EXPECT_THAT(RefusalOf([&] { strategy.Submit(worker.BucketOf(index, step)); }),
                    testing::AllOf(HasSubstr(name + std::to_string(step)), HasSubstr("already")));
      }
      EXPECT_THAT(RefusalOf([&] { strategy.Settle(); }),
                  HasSubstr("bucket 0, step " + std::to_string(step)));
    }
    worker.Settle(kSteps);
    for (std::size_t i = 0; i < kElements; ++i) {
      ASSERT_NEAR(worker.space().params()[i], ExpectedOf(entry(), rank, workers(), i),
                  ToleranceOf(entry(), workers()))
          << "rank " << rank << ", element " << i;
    }
    strategy.Stop();
    ExpectAllAreRefused(worker, "after the stop");
  });
}

bool IsAPair(const Setting& setting) { return setting.workers == 2 && setting.servers < 2; }

INSTANTIATE_TEST_SUITE_P(Table, MisuseTest, testing::ValuesIn(Settings(IsAPair)), NameOf);

}  // namespace
}  // namespace ringside::conformance

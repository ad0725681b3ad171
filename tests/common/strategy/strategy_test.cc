// Tests the strategies of common/: `none`, and the wrapper that measures another strategy.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "ringside/common/base/dilated_clock.h"
#include "ringside/common/base/errors.h"
#include "ringside/common/strategy/deferred_submit_strategy.h"
#include "ringside/common/strategy/measured_strategy.h"
#include "ringside/common/strategy/none_strategy.h"
#include "tests/common/thread_ranks.h"

namespace ringside {
namespace {

class NoneStrategyTest : public ::testing::Test {
 protected:
  const std::vector<TensorSpec> tensors_{{"a", 5}, {"b", 7}};
  const BucketPlan plan_{tensors_, {.target_bytes = 0}};
  FlatSpace space_{plan_.elements()};
  const World world_ = TestWorld(0, 1);
  InProcessStore store_;
  const CommOptions comm_;
  const std::unique_ptr<Optimizer> optimizer_ =
      Optimizer::Make({.momentum = 0.5}, plan_.elements());
  const Schedule schedule_{
      {.kind = ScheduleOptions::Kind::kStep, .base = 1, .step_every = 1, .gamma = 0.5}};
  Recorder recorder_{4};
  Timeline timeline_;
  NoneStrategy strategy_{{world_, store_, comm_, *optimizer_, schedule_, recorder_, timeline_}};
};

TEST_F(NoneStrategyTest, UpdatesTheBucketsOwnRangeAtTheStepsRate) {
  strategy_.Start(space_, plan_, {});
  std::ranges::fill(space_.grads(), 4.0F);
  strategy_.Submit(MakeBucket(space_, plan_, 1, /*step=*/1));
  for (std::size_t i = 0; i < 12; ++i) EXPECT_EQ(space_.params()[i], i < 5 ? 0.0F : -2.0F) << i;
}

TEST_F(NoneStrategyTest, ResumesTheOptimizerAndGivesItsStateBack) {
  const std::vector<float> state{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  strategy_.Start(space_, plan_, {.step = 3, .optimizer_state = state});
  std::vector<float> out(12);
  strategy_.ReadOptimizerState(out);
  EXPECT_EQ(out, state);
}

TEST_F(NoneStrategyTest, SendsNothing) {
  strategy_.Start(space_, plan_, {});
  strategy_.Submit(MakeBucket(space_, plan_, 0, 0));
  strategy_.Await(MakeBucket(space_, plan_, 0, 0));
  strategy_.Stop();
  EXPECT_EQ(recorder_.bytes_sent() + recorder_.bytes_received(), 0U);
  EXPECT_EQ(kNoneEntry.traits.agreement, Agreement::kNone);
  EXPECT_EQ(kNoneEntry.traits.averaging(), Averaging::kLocalBatch);
  EXPECT_FALSE(kNoneEntry.traits.has_servers());
}

constexpr IntegerOption kDeclared{.name = "declared", .default_value = 1};
constexpr IntegerOption kUndeclared{.name = "undeclared", .default_value = 1};

template <typename Call>
std::string ConfigErrorOf(const Call& call) {
  try {
    call();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "no ConfigError";
}

class MakeStrategyTest : public NoneStrategyTest {
 protected:
  StrategyContext Context() {
    StrategyContext context{world_, store_, comm_, *optimizer_, schedule_, recorder_, timeline_};
    context.options.Set(kDeclared, 7);
    context.options.Set(kUndeclared, 7);
    return context;
  }
  ServerContext ContextOfServer() {
    return {.store = store_,
            .comm = comm_,
            .optimizer = options_,
            .schedule = schedule_,
            .timeline = timeline_,
            .options = Context().options};
  }
  /// Its strategy and its server read the option of that name.
  static StrategyEntry EntryThatReads(const IntegerOption& option) {
    StrategyEntry entry;
    entry.name = "reader";
    entry.options = {kDeclared};
    entry.make = [option](const StrategyContext& context) -> std::unique_ptr<Strategy> {
      EXPECT_EQ(context.options.Get(option), 7);
      return std::make_unique<NoneStrategy>(context);
    };
    entry.make_server = [option](const ServerContext& context) -> std::unique_ptr<Server> {
      EXPECT_EQ(context.options.Get(option), 7);
      return nullptr;
    };
    return entry;
  }

 private:
  const OptimizerOptions options_;
};

TEST_F(MakeStrategyTest, AStrategyAndItsServersReadTheOptionsThatTheyDeclareAlone) {
  const StrategyEntry right = EntryThatReads(kDeclared);
  EXPECT_NE(MakeStrategy(right, Context()), nullptr);
  EXPECT_EQ(MakeServer(right, ContextOfServer()), nullptr);
  const StrategyEntry wrong = EntryThatReads(kUndeclared);
  const auto named =
      testing::AllOf(testing::HasSubstr("'reader'"), testing::HasSubstr("'undeclared'"));
  EXPECT_THAT(ConfigErrorOf([&] { MakeStrategy(wrong, Context()); }), named);
  EXPECT_THAT(ConfigErrorOf([&] { MakeServer(wrong, ContextOfServer()); }), named);
}

TEST_F(MakeStrategyTest, AnEntryWithoutAFactoryIsRefusedByName) {
  StrategyEntry entry;
  entry.name = "empty";
  EXPECT_THAT(ConfigErrorOf([&] { MakeStrategy(entry, Context()); }),
              testing::HasSubstr("'empty' has no 'make'"));
  EXPECT_THAT(ConfigErrorOf([&] { MakeServer(entry, ContextOfServer()); }),
              testing::HasSubstr("'empty' has no 'make_server'"));
}

class SlowStrategy : public Strategy {
 public:
  void Start(FlatSpace&, const BucketPlan&, const StartPoint&) override { ++starts; }
  void Submit(const Bucket&) override {
    ++submits;
    Spend(std::chrono::milliseconds(2));
  }
  void Await(const Bucket&) override {
    ++awaits;
    if (board != nullptr) seen = board->Get().activity;
    Spend(std::chrono::milliseconds(4));
  }
  void Settle() override { ++settles; }
  void ReadOptimizerState(std::span<float> out) override { out[0] = 9; }
  std::vector<StateVector> State() override { return {{.name = "slow", .values = {}}}; }
  void Stop() override { ++stops; }

  const ActivityBoard* board = nullptr;
  Activity seen;  // on the board, during the last Await
  int starts = 0;
  int submits = 0;
  int awaits = 0;
  int settles = 0;
  int stops = 0;

 private:
  static void Spend(std::chrono::milliseconds duration) {
    const auto until = DilatedClock::now() + duration;
    while (DilatedClock::now() < until) continue;
  }
};

TEST_F(NoneStrategyTest, NamesABucketThatIsNotOfThePlan) {
  strategy_.Start(space_, plan_, {});
  Bucket wrong = MakeBucket(space_, plan_, 1, /*step=*/3);
  wrong.offset = 0;
  try {
    strategy_.Submit(wrong);
    ADD_FAILURE() << "it begins at element 5";
  } catch (const InternalError& error) {
    EXPECT_STREQ(error.what(),
                 "bucket 1, step 3 begins at element 5 of the flat vectors, not at 0");
  }
  wrong = MakeBucket(space_, plan_, 1, 3);
  wrong.params = wrong.params.first(1);
  EXPECT_THROW(strategy_.Submit(wrong), InternalError);
  wrong.index = 2;
  EXPECT_THROW(strategy_.Submit(wrong), InternalError);
}

TEST(MeasuredStrategyTest, CountsWhatTheCallerPaysAndStartsOver) {
  const std::vector<TensorSpec> tensors{{"a", 4}};
  const BucketPlan plan(tensors, {});
  FlatSpace space(4);
  SlowStrategy slow;
  Timeline timeline(TimelineCapacity{.spans = 10});
  ActivityBoard activity;
  MeasuredStrategy measured(slow, timeline, activity);
  measured.Submit(MakeBucket(space, plan, 0, 5));
  measured.Await(MakeBucket(space, plan, 0, 5));
  measured.Await(MakeBucket(space, plan, 0, 6));
  const MeasuredStrategy::Times times = measured.TakeTimes();
  EXPECT_GE(times.submit_ms, 2);
  EXPECT_GE(times.await_ms, 8);
  EXPECT_EQ(measured.TakeTimes().await_ms, 0);
  std::vector<std::string> spans;
  for (const TimelineSpan& span : timeline.Take()) spans.emplace_back(SpanName(span.kind));
  EXPECT_THAT(spans, ::testing::ElementsAre("submit", "await", "await"));
}

/// Tests that calls which a decorator does not change reach the inner strategy.
void ExpectPassesOn(StrategyDecorator& decorator, const SlowStrategy& slow) {
  FlatSpace space(0);
  decorator.Start(space, BucketPlan(), {});
  decorator.Settle();
  std::vector<float> state(1);
  decorator.ReadOptimizerState(state);
  ASSERT_EQ(decorator.State().size(), 1U);
  EXPECT_EQ(decorator.State()[0].name, "slow");
  decorator.Stop();
  EXPECT_EQ(slow.starts, 1);
  EXPECT_EQ(slow.settles, 1);
  EXPECT_EQ(slow.stops, 1);
  EXPECT_EQ(state[0], 9);
}

TEST(StrategyDecoratorTest, PassesEveryCallOn) {
  SlowStrategy slow;
  StrategyDecorator decorator(slow);
  decorator.Submit({});
  decorator.Await({});
  decorator.Await({});
  EXPECT_EQ(slow.submits, 1);
  EXPECT_EQ(slow.awaits, 2);
  ExpectPassesOn(decorator, slow);
}

/// What a `MeasuredStrategy` says while its caller waits.
class MeasuredWaitTest : public ::testing::Test {
 protected:
  MeasuredWaitTest() { slow_.board = &activity_; }

  const BucketPlan plan_{std::vector<TensorSpec>{{"a", 4}}, {}};
  FlatSpace space_{4};
  SlowStrategy slow_;
  Timeline timeline_;
  ActivityBoard activity_;
  MeasuredStrategy measured_{slow_, timeline_, activity_};
};

TEST_F(MeasuredWaitTest, SaysWhenTheCallerWaits) {
  const ActivityBoard::Clock::time_point since = ActivityBoard::Clock::now();
  activity_.Set({Activity::Kind::kCompute, 5, -1}, since);
  measured_.Await(MakeBucket(space_, plan_, 0, 5));
  EXPECT_EQ(slow_.seen, (Activity{Activity::Kind::kAwait, 5, 0}));
  EXPECT_EQ(activity_.Get().activity, (Activity{Activity::Kind::kCompute, 5, -1}));
  EXPECT_GE(activity_.Get().since - since, std::chrono::milliseconds(4)) << "without the wait";
}

// A caller that updates itself waits within the step, others at the begin of the next one.
TEST_F(MeasuredWaitTest, SaysWhichStepNeedsTheBucket) {
  measured_.Start(space_, plan_, {});
  for (const std::int64_t awaited_in : {5, 6}) {
    measured_.Submit(MakeBucket(space_, plan_, 0, 5));
    measured_.Await(MakeBucket(space_, plan_, 0, awaited_in));
    EXPECT_EQ(slow_.seen, (Activity{Activity::Kind::kAwait, 6, 0})) << awaited_in;
  }
}

TEST(DeferredSubmitStrategyTest, ReleasesABucketThatIsAwaited) {
  const std::vector<TensorSpec> tensors{{"a", 4}};
  const BucketPlan plan(tensors, {});
  FlatSpace space(4);
  SlowStrategy slow;
  DeferredSubmitStrategy deferred(slow);
  const Bucket bucket = MakeBucket(space, plan, 0, 0);
  deferred.Submit(bucket);
  EXPECT_EQ(slow.submits, 0);
  deferred.Await(bucket);
  EXPECT_EQ(slow.submits, 1);
  deferred.Release();
  EXPECT_EQ(slow.submits, 1) << "once";
}

TEST(DeferredSubmitStrategyTest, PassesEverythingElseOn) {
  SlowStrategy slow;
  DeferredSubmitStrategy deferred(slow);
  ExpectPassesOn(deferred, slow);
}

TEST(MeasuredStrategyTest, PassesEverythingElseOn) {
  SlowStrategy slow;
  Timeline timeline;
  ActivityBoard activity;
  MeasuredStrategy measured(slow, timeline, activity);
  ExpectPassesOn(measured, slow);
}

}  // namespace
}  // namespace ringside

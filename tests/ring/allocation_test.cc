// A steady step allocates nothing, in `none` and in all strategies of the ring family whose ranks
// can be threads: not in mpi and nccl. The ranks are two threads of this process, or four on two
// hosts; the allocations of all threads are counted.
#include <gtest/gtest.h>

#include <algorithm>
#include <barrier>
#include <cctype>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ringside/common/codec/codec_table.h"
#include "ringside/common/strategy/none_strategy.h"
#include "ringside/ring/strategies/periodic_rule.h"
#include "ringside/ring/strategies/ring_strategies.h"
#include "tests/common/allocation_counter.h"
#include "tests/common/thread_ranks.h"
#include "tests/ring/ring_worker.h"

namespace ringside {
namespace {

constexpr std::int64_t kWarmUpSteps = 5;
constexpr std::int64_t kCountedSteps = 10;

struct Setting {
  const StrategyEntry* entry;
  std::string variant;
  StrategyOptions options = {};
  int hosts = 1;
  int workers = 2;
};

std::string NameOf(const testing::TestParamInfo<Setting>& info) {
  std::string name = std::string(info.param.entry->name) + "_" + info.param.variant;
  std::ranges::replace_if(
      name, [](char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

/// A worker with buckets of less than a message, of one and of many.
class Worker {
 public:
  Worker(const Setting& setting, int rank, Store& store)
      : world_(TestWorld(rank, setting.workers)),
        plan_(std::vector<TensorSpec>{{"a", 100}, {"b", 5000}, {"c", 20'000}, {"d", 200'000}},
              {.target_bytes = 256 << 10, .first_bytes = 256}),
        space_(setting.entry->traits.memory == MemoryKind::kShared
                   ? FlatSpace(plan_.elements(), "test")
                   : FlatSpace(plan_.elements())),
        optimizer_(Optimizer::Make({.momentum = 0.5}, plan_.elements())) {
    const int to_a_host = setting.workers / setting.hosts;
    world_.host = "host " + std::to_string(rank / to_a_host);
    world_.local_rank = rank % to_a_host;
    world_.local_workers = to_a_host;
    strategy_ = setting.entry->make(
        {world_, store, comm_, *optimizer_, schedule_, recorder_, timeline_, setting.options});
    strategy_->Start(space_, plan_, {});
  }

  void Step(std::int64_t step) {
    for (int b = 0; b < plan_.buckets(); ++b) strategy_->Await(MakeBucket(space_, plan_, b, step));
    for (std::size_t i = 0; i < space_.size(); ++i) {
      space_.grads()[i] = static_cast<float>(i % 7) * static_cast<float>(world_.rank + 1);
    }
    for (int b = 0; b < plan_.buckets(); ++b) strategy_->Submit(MakeBucket(space_, plan_, b, step));
  }

  /// Waits until no operation is running.
  void Finish() {
    for (int b = 0; b < plan_.buckets(); ++b) strategy_->Await(MakeBucket(space_, plan_, b, 0));
  }

  void Stop() { strategy_->Stop(); }

 private:
  World world_;
  const CommOptions comm_{
      .address = "127.0.0.1", .token = "secret", .timeout = std::chrono::seconds(20)};
  BucketPlan plan_;
  FlatSpace space_;
  std::unique_ptr<Optimizer> optimizer_;
  Schedule schedule_{ScheduleOptions{.base = 0.25}};
  Recorder recorder_{16};
  Timeline timeline_{TimelineCapacity{4096, 4096}};
  std::unique_ptr<Strategy> strategy_;
};

/// How often the whole process allocates in the counted steps of all ranks.
std::int64_t CountSteadySteps(const Setting& setting) {
  InProcessStore store;
  std::barrier<> barrier(setting.workers);
  std::int64_t count = 0;
  RunRanks(setting.workers, [&](int rank) {
    Worker worker(setting, rank, store);
    for (std::int64_t step = 0; step < kWarmUpSteps; ++step) worker.Step(step);
    worker.Finish();
    barrier.arrive_and_wait();
    if (rank == 0) AllocationCounter::Start();
    barrier.arrive_and_wait();
    for (std::int64_t step = 0; step < kCountedSteps; ++step) worker.Step(kWarmUpSteps + step);
    worker.Finish();
    barrier.arrive_and_wait();
    if (rank == 0) count = AllocationCounter::Stop();
    barrier.arrive_and_wait();
    worker.Stop();
  });
  return count;
}

class AllocationTest : public testing::TestWithParam<Setting> {};

TEST_P(AllocationTest, ASteadyStepAllocatesNothing) {
  EXPECT_EQ(CountSteadySteps(GetParam()), 0) << AllocationCounter::SeenText();
}

TEST(AllocationCounterTest, CountsWhatATestAllocates) {
  AllocationCounter::Start();
  ::operator delete(::operator new(1));
  EXPECT_EQ(AllocationCounter::Stop(), 1);
}

StrategyOptions WithCodec(const std::string& codec) {
  StrategyOptions options;
  options.codec.seed = 5;
  ParseCodec(codec, BuiltinCodecs(), options.codec);
  return options;
}

StrategyOptions WithPriority() {
  StrategyOptions options;
  options.order = SendOrder::kPriority;
  return options;
}

StrategyOptions SyncEvery(std::int64_t steps) {
  StrategyOptions options;
  options.Set(kSyncEvery, steps);
  return options;
}

std::vector<Setting> Settings() {
  std::vector<Setting> settings{
      {&kNoneEntry, "plain"},
      {&RingStrategy("shm"), "plain"},
      {&RingStrategy("local-sgd"), "every_step", SyncEvery(1)},
      {&RingStrategy("local-sgd"), "every_third_step", SyncEvery(3)},
      {&RingStrategy("diloco"), "every_step", SyncEvery(1)},
      {&RingStrategy("diloco"), "every_third_step", SyncEvery(3)},
      {&RingStrategy("hierarchical"), "two_hosts", {}, 2},
      {&RingStrategy("hierarchical"), "two_hosts_of_two", {}, 2, 4},
      {&RingStrategy("hierarchical"), "two_hosts_priority", WithPriority(), 2, 4},
      {&RingStrategy("hierarchical"), "two_hosts_fp16", WithCodec("fp16"), 2, 4},
      {&RingStrategy("hierarchical"), "two_hosts_topk", WithCodec("topk:0.1"), 2, 4},
  };
  for (const StrategyEntry* entry : {&RingStrategy("ring"), &RingStrategy("halving-doubling"),
                                     &RingStrategy("recursive-doubling"), &RingStrategy("tree"),
                                     &RingStrategy("auto"), &RingStrategy("hierarchical")}) {
    settings.push_back({entry, "plain"});
    settings.push_back({entry, "priority", WithPriority()});
  }
  for (const char* codec : {"fp16", "bf16", "int8", "topk:0.1", "sign", "powersgd:2"}) {
    settings.push_back({&RingStrategy("ring"), codec, WithCodec(codec)});
  }
  settings.push_back({&RingStrategy("tree"), "int8", WithCodec("int8")});
  settings.push_back({&RingStrategy("recursive-doubling"), "fp16", WithCodec("fp16")});
  // Of three workers one is folded, and is a leaf.
  for (const StrategyEntry* entry : {&RingStrategy("ring"), &RingStrategy("halving-doubling"),
                                     &RingStrategy("recursive-doubling"), &RingStrategy("tree")}) {
    settings.push_back({entry, "three_workers", {}, 1, 3});
  }
  return settings;
}

INSTANTIATE_TEST_SUITE_P(Ring, AllocationTest, testing::ValuesIn(Settings()), NameOf);

}  // namespace
}  // namespace ringside

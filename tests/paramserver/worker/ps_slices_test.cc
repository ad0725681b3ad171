// Buckets that are cut into slices: the same bits as with whole buckets, whatever carries them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "ringside/common/codec/codec.h"
#include "ringside/common/codec/codec_table.h"
#include "ringside/paramserver/slicing/slice_sizes.h"
#include "ringside/paramserver/transports/transport_table.h"
#include "ringside/paramserver/wire/wire_codec.h"
#include "tests/common/numbers.h"
#include "tests/paramserver/ps_cluster.h"

namespace ringside {
namespace {

constexpr std::size_t kElements = 30'000;
constexpr std::size_t kBucketBytes = 24'000;  // five buckets
constexpr int kSteps = 3;

ClusterOptions OptionsOf(const std::string& transport, std::int64_t slice_kib,
                         std::int64_t window_kib = 0) {
  ClusterOptions options{
      .workers = 3, .servers = 2, .elements = kElements, .target_bytes = kBucketBytes};
  options.strategy.Set(kPsTransport, transport);
  options.strategy.Set(kSliceKb, slice_kib);
  options.strategy.Set(kWindowKb, window_kib);
  return options;
}

void FillUnevenly(TestWorker& worker, int step) {
  for (std::size_t i = 0; i < worker.space.size(); ++i) {
    const auto x = static_cast<float>(i % 1013) + static_cast<float>(worker.world.rank) * 0.3F;
    worker.space.grads()[i] = 1.0F / (x + 0.7F + static_cast<float>(step));
  }
}

/// The parameters after some steps, which must be equal on all workers.
std::vector<float> Train(const ClusterOptions& options) {
  std::mutex mutex;
  std::vector<float> params;
  PsCluster cluster(options);
  cluster.Run([&](TestWorker& worker) {
    for (int step = 0; step < kSteps; ++step) {
      FillUnevenly(worker, step);
      worker.Step(step);
    }
    const std::lock_guard lock(mutex);
    const auto mine = worker.space.params();
    if (params.empty()) params.assign(mine.begin(), mine.end());
    EXPECT_TRUE(SameBits(params, mine)) << "worker " << worker.world.rank;
  });
  return params;
}

class SliceTest : public ::testing::TestWithParam<std::string> {};

TEST_P(SliceTest, GivesTheBitsOfWholeBuckets) {
  const std::vector<float> whole = Train(OptionsOf(GetParam(), 0));
  for (const auto& [slice_kib, window_kib] :
       std::vector<std::pair<int, int>>{{1, 0}, {1, 1}, {5, 12}, {20, 1}}) {
    EXPECT_TRUE(SameBits(Train(OptionsOf(GetParam(), slice_kib, window_kib)), whole))
        << slice_kib << " KiB in windows of " << window_kib;
  }
}

TEST_P(SliceTest, GivesTheBitsOfWholeBucketsUnderPriority) {
  ClusterOptions options = OptionsOf(GetParam(), 0);
  const std::vector<float> whole = Train(options);
  options.strategy.order = SendOrder::kPriority;
  options.strategy.Set(kSliceKb, 2);
  EXPECT_TRUE(SameBits(Train(options), whole));
}

TEST_P(SliceTest, ServesWorkersThatPushInOppositeOrders) {
  PsCluster cluster(OptionsOf(GetParam(), 1, 1));
  cluster.Run([](TestWorker& worker) {
    worker.FillGradients(1);
    const int buckets = worker.plan.buckets();
    for (int i = 0; i < buckets; ++i) {
      worker.Submit(worker.world.rank == 0 ? i : buckets - 1 - i, 0);
    }
    for (int bucket = 0; bucket < buckets; ++bucket) worker.Await(bucket, 0);
    EXPECT_EQ(worker.space.params().front(), -3);
    EXPECT_EQ(worker.space.params().back(), -3);
  });
}

INSTANTIATE_TEST_SUITE_P(Transports, SliceTest, ::testing::Values("grpc", "tcp", "uds", "shm"),
                         [](const auto& transport) { return transport.param; });

TEST(Slices, CountUpdatesAndStalenessOfBuckets) {
  const ClusterOptions options = OptionsOf("grpc", 1);
  PsCluster cluster(options);
  const int buckets = cluster.MakeWorker(0)->plan.buckets();
  cluster.Run([&](TestWorker& worker) {
    for (int step = 0; step < kSteps; ++step) worker.Step(step);
    EXPECT_EQ(worker.recorder.staleness(),
              (std::map<std::int64_t, std::int64_t>{{0, kSteps * buckets}}));
    EXPECT_EQ(worker.recorder.bytes_sent(), kSteps * kElements * sizeof(float));
    EXPECT_EQ(worker.recorder.bytes_received(), kSteps * kElements * sizeof(float));
  });
  std::int64_t updates = 0, pushes = 0;
  for (int server = 0; server < options.servers; ++server) {
    const ServerReport report = cluster.server(server).Stop();
    updates += report.updates;
    for (const auto& [versions, count] : report.staleness) pushes += count;
  }
  EXPECT_EQ(updates, kSteps * buckets);
  EXPECT_EQ(pushes, kSteps * buckets * options.workers);
}

TEST(Slices, AreRecordedAsFacts) {
  PsCluster cluster(OptionsOf("grpc", 2, 7));
  cluster.Run([](TestWorker& worker) {
    const std::map<std::string, double>& facts = worker.recorder.facts();
    EXPECT_EQ(facts.at("awaited_pushes"), 3) << "of all workers";
    EXPECT_EQ(facts.at("slice_limit_bytes"), 2 * 1024);
    EXPECT_EQ(facts.at("window_bytes"), 4 * facts.at("slice_bytes")) << "7 KiB, in whole slices";
    EXPECT_LE(facts.at("slice_bytes"), 2 * 1024);
    EXPECT_GT(facts.at("slice_bytes"), 1024);
    EXPECT_GE(facts.at("slices"), kElements * sizeof(float) / 2048);
    // Each of two servers gets half of the gradients of three workers.
    EXPECT_NEAR(facts.at("busiest_link_bytes"), 1.5 * kElements * sizeof(float), 3 * 2048);
    EXPECT_GT(facts.at("last_slice_share"), 0);
    EXPECT_LE(facts.at("last_slice_share"), 512.0 / kElements);
  });
}

TEST(Slices, OfWholeBucketsHaveNoLimit) {
  PsCluster cluster(OptionsOf("grpc", 0, 7));
  cluster.Run([](TestWorker& worker) {
    const std::map<std::string, double>& facts = worker.recorder.facts();
    EXPECT_EQ(facts.at("slice_limit_bytes"), 0);
    EXPECT_EQ(facts.at("slices"), worker.plan.buckets());
    EXPECT_EQ(facts.at("window_bytes"), 7 * 1024);
  });
}

TEST(Slices, KeepTheirOptimizerStateThroughACheckpoint) {
  ClusterOptions options = OptionsOf("grpc", 1);
  options.optimizer = {.kind = OptimizerOptions::Kind::kAdam};
  options.schedule = {.base = 0.1};
  std::vector<float> params, state, end;
  PsCluster straight(options);
  straight.Run([&](TestWorker& worker) {
    for (int step = 0; step < 2; ++step) {
      FillUnevenly(worker, step);
      worker.Step(step);
    }
    worker.strategy->Settle();
    if (worker.world.rank == 0) {
      params.assign(worker.space.params().begin(), worker.space.params().end());
      state.resize(worker.optimizer->state_size());
      worker.strategy->ReadOptimizerState(state);
    }
    FillUnevenly(worker, 2);
    worker.Step(2);
    if (worker.world.rank == 0) {
      end.assign(worker.space.params().begin(), worker.space.params().end());
    }
  });
  options.strategy.Set(kSliceKb, 0);  // a checkpoint does not depend on slices
  PsCluster resumed(options);
  const RankOutcomes outcomes = resumed.TryRun([&](TestWorker& worker) {
    std::ranges::copy(params, worker.space.params().begin());
    worker.strategy->Start(worker.space, worker.plan, {.step = 2, .optimizer_state = state});
    FillUnevenly(worker, 2);
    worker.Step(2);
    EXPECT_TRUE(SameBits(worker.space.params(), end));
    worker.strategy->Stop();
  });
  EXPECT_EQ(outcomes.failures(), 0);
}

TEST(Slices, OfAnAsynchronousWorkerAlone) {
  ClusterOptions options = OptionsOf("grpc", 0);
  options.entry = &kPsAsyncEntry;
  options.workers = 1;
  const std::vector<float> whole = Train(options);
  options.strategy.Set(kSliceKb, 1);
  EXPECT_TRUE(SameBits(Train(options), whole));
}

TEST(Slices, OfServersWithUnequalSharesGiveTheBitsOfWholeBuckets) {
  ClusterOptions options = OptionsOf("tcp", 0);
  options.entry = &kMixedEntry;
  options.servers = 5;
  options.colocated = 3;
  const std::vector<float> whole = Train(options);
  for (const auto& [slice_kib, window_kib] : std::vector<std::pair<int, int>>{{1, 0}, {3, 5}}) {
    options.strategy.Set(kSliceKb, slice_kib);
    options.strategy.Set(kWindowKb, window_kib);
    EXPECT_TRUE(SameBits(Train(options), whole)) << slice_kib << " KiB";
  }
}

class RelaxedSlices
    : public ::testing::TestWithParam<std::tuple<const StrategyEntry*, std::string>> {};

/// Every worker has a number of its own, so the sum of an element tells what was lost or applied
/// twice.
TEST_P(RelaxedSlices, AreAppliedExactlyOnce) {
  ClusterOptions options = OptionsOf(std::get<std::string>(GetParam()), 1, 2);
  options.entry = std::get<const StrategyEntry*>(GetParam());
  PsCluster cluster(options);
  cluster.Run([](TestWorker& worker) {
    worker.FillGradients(static_cast<float>(1 << worker.world.rank));
    for (int step = 0; step < kSteps; ++step) worker.Step(step);
    worker.strategy->Settle();
    for (const float value : worker.space.params()) ASSERT_EQ(value, -(1 + 2 + 4) * kSteps);
  });
}

INSTANTIATE_TEST_SUITE_P(All, RelaxedSlices,
                         ::testing::Combine(::testing::Values(&kPsAsyncEntry, &kPsSspEntry),
                                            ::testing::Values("grpc", "tcp")),
                         [](const auto& combined) {
                           return (std::get<0>(combined.param) == &kPsSspEntry ? "ssp_"
                                                                               : "async_") +
                                  std::get<1>(combined.param);
                         });

CodecOptions CodecOf(const std::string& text) {
  CodecOptions codec{.seed = 3};
  ParseCodec(text, BuiltinCodecs(), codec);
  return codec;
}

/// Codec, transport.
class SliceCodecTest : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {
 protected:
  static ClusterOptions Options(int window_kib, int slice_kib = 2) {
    ClusterOptions options = OptionsOf(std::get<1>(GetParam()), slice_kib, window_kib);
    options.strategy.codec = CodecOf(std::get<0>(GetParam()));
    return options;
  }
};

std::string NameOf(const ::testing::TestParamInfo<std::tuple<std::string, std::string>>& info) {
  const auto& [codec, transport] = info.param;
  return codec.substr(0, codec.find(':')) + "_" + transport;
}

TEST_P(SliceCodecTest, GivesAllWorkersTheSameParametersInEveryRun) {
  const ClusterOptions options = Options(5);
  EXPECT_TRUE(SameBits(Train(options), Train(options)));
}

// A codec may have one scale for a bucket, or choose among its elements. Also of real links, whose
// measured speed chooses the slices, the result is the same in every run.
TEST_P(SliceCodecTest, GivesTheBitsOfWholeBuckets) {
  const std::vector<float> whole = Train(Options(0, 0));
  for (const auto& [slice_kib, window_kib] : std::vector<std::pair<int, int>>{{1, 1}, {5, 12}}) {
    EXPECT_TRUE(SameBits(Train(Options(window_kib, slice_kib)), whole)) << slice_kib << " KiB";
  }
}

/// Codecs that keep a slice of ones, wherever it begins: all but top-k.
class ExactSliceCodecTest : public SliceCodecTest {};

TEST_P(ExactSliceCodecTest, IsExactForEqualGradients) {
  PsCluster cluster(Options(0));
  cluster.Run([](TestWorker& worker) {
    worker.FillGradients(1);
    for (int step = 0; step < kSteps; ++step) worker.Step(step);
    for (const float value : worker.space.params()) ASSERT_EQ(value, -3 * kSteps);
  });
}

INSTANTIATE_TEST_SUITE_P(Codecs, SliceCodecTest,
                         ::testing::Combine(::testing::Values("fp16", "bf16", "int8", "topk:0.1",
                                                              "sign"),
                                            ::testing::Values("grpc", "tcp")),
                         NameOf);
INSTANTIATE_TEST_SUITE_P(Codecs, ExactSliceCodecTest,
                         ::testing::Combine(::testing::Values("fp16", "bf16", "int8", "sign"),
                                            ::testing::Values("grpc", "tcp")),
                         NameOf);

}  // namespace
}  // namespace ringside

// Allocations of a step once all that is used again and again has been made, of a worker and a
// server as threads of this process.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <barrier>
#include <cstdint>
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <string_view>

#include "ringside/common/codec/codec_table.h"
#include "ringside/paramserver/slicing/slice_sizes.h"
#include "tests/common/allocation_counter.h"
#include "tests/paramserver/ps_cluster.h"

namespace ringside {
namespace {

constexpr int kWarmUp = 20;
constexpr int kSteps = 20;

struct Setting {
  const StrategyEntry* entry = &kPsSyncEntry;
  const char* transport = "grpc";
  int workers = 1;
  int buckets = 1;
  std::string codec = "fp32";
  bool servers_update = true;
  int slice_kib = 0;  ///< A bucket has 4 KiB.
};

/// Makes kWarmUp steps, then kSteps more, each of them on rank 0 inside `around`.
void RunSteps(const Setting& setting,
              const std::function<void(const std::function<void()>&)>& around) {
  constexpr std::size_t kBucketFloats = 1024;
  ClusterOptions options{.entry = setting.entry,
                         .workers = setting.workers,
                         .elements = static_cast<std::size_t>(setting.buckets) * kBucketFloats,
                         .target_bytes = kBucketFloats * sizeof(float)};
  options.strategy.Set(kPsTransport, setting.transport);
  ParseCodec(setting.codec, BuiltinCodecs(), options.strategy.codec);
  options.strategy.Set(kSliceKb, setting.slice_kib);
  if (!setting.servers_update) options.strategy.Set(kServerUpdate, false);
  PsCluster cluster(options);
  std::barrier together(setting.workers);
  cluster.Run([&](TestWorker& worker) {
    ASSERT_EQ(worker.plan.buckets(), setting.buckets);
    worker.FillGradients(1);
    std::int64_t step = 0;
    for (; step < kWarmUp; ++step) worker.Step(step);
    const auto one_step = [&] {
      together.arrive_and_wait();
      worker.Step(step);
      together.arrive_and_wait();
    };
    for (; step < kWarmUp + kSteps; ++step) {
      if (worker.world.rank == 0) {
        around(one_step);
      } else {
        one_step();
      }
      together.arrive_and_wait();  // nobody goes on while steps are looked at
    }
  });
}

class SharedMemoryAllocationTest : public testing::TestWithParam<const StrategyEntry*> {};

INSTANTIATE_TEST_SUITE_P(Strategies, SharedMemoryAllocationTest,
                         testing::Values(&kPsSyncEntry, &kPsAsyncEntry, &kPsSspEntry, &kMixedEntry),
                         [](const auto& entry) {
                           std::string name(entry.param->name);
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST_P(SharedMemoryAllocationTest, AStepAllocatesNothing) {
  std::int64_t allocations = 0;
  std::string seen;
  RunSteps({.entry = GetParam(), .transport = "shm", .buckets = 8},
           [&](const std::function<void()>& step) {
             AllocationCounter::Start();
             step();
             allocations += AllocationCounter::Stop();
             if (allocations > 0 && seen.empty()) seen = AllocationCounter::SeenText();
           });
  EXPECT_EQ(allocations, 0) << seen;
}

TEST(PsAllocationTest, AStepOfTwoWorkersOverSharedMemoryAllocatesNothing) {
  std::int64_t allocations = 0;
  std::string seen;
  for (const bool servers_update : {true, false}) {
    RunSteps({.transport = "shm", .workers = 2, .buckets = 8, .servers_update = servers_update},
             [&](const std::function<void()>& step) {
               AllocationCounter::Start();
               step();
               allocations += AllocationCounter::Stop();
               if (allocations > 0 && seen.empty()) seen = AllocationCounter::SeenText();
             });
  }
  EXPECT_EQ(allocations, 0) << seen;
}

/// The object file that a frame lies in: what stands before the parenthesis, without its folder.
std::string ObjectOf(const std::string& frame) {
  const std::string path = frame.substr(0, frame.find('('));
  return path.substr(path.find_last_of('/') + 1);
}

bool IsIn(const std::string& frame, std::string_view function) {
  return frame.find(function) != std::string::npos;
}

/// Libraries that act for whoever calls them. A frame of theirs does not say who asked.
bool IsHelperLibrary(const std::string& object) {
  constexpr std::array<std::string_view, 8> kLibraries{
      "libstdc++", "libc.", "libgcc", "ld-linux", "libabsl", "libprotobuf", "libgpr", "libupb"};
  return std::ranges::any_of(kLibraries,
                             [&](std::string_view name) { return object.starts_with(name); });
}

/// Who asked for the memory: the object of the innermost frame that is not a helper library's.
/// Some of our own functions are special. In `PsService::Authentic`, inline code of gRPC's headers
/// makes the map of a call's metadata. A shard makes a further buffer while gRPC holds all of its
/// buffers, and gRPC decides when that happens.
std::string AskedBy(const AllocationCounter::Allocation& allocation) {
  for (const std::string& frame : allocation.frames) {
    if (IsHelperLibrary(ObjectOf(frame))) continue;
    if (IsIn(frame, "_ZNK8ringside9PsService9Authentic")) return "gRPC's headers";
    if (IsIn(frame, "_ZN8ringside5Shard15ExclusiveBuffer") ||
        IsIn(frame, "_ZN8ringside5Shard5Reply")) {
      return "further buffers";
    }
    return ObjectOf(frame);
  }
  return "helper libraries";  // on a thread of theirs, without any code of ours
}

class TcpAllocationTest : public testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Codecs, TcpAllocationTest,
                         testing::Values("fp32", "fp16", "int8", "topk:0.1", "sign"),
                         [](const auto& codec) {
                           return codec.param.substr(0, codec.param.find(':'));
                         });

// Slices of topk have other lengths in each step, so they are left out (transports/README.md).
TEST_P(TcpAllocationTest, AStepAllocatesNothing) {
  for (const int slice_kib : {0, 1}) {
    if (slice_kib > 0 && GetParam().starts_with("topk")) continue;
    int further_buffers = 0;
    RunSteps({.transport = "tcp", .codec = GetParam(), .slice_kib = slice_kib},
             [&](const std::function<void()>& step) {
               AllocationCounter::Start();
               step();
               AllocationCounter::Stop();
               for (const AllocationCounter::Allocation& allocation : AllocationCounter::Seen()) {
                 const std::string object = AskedBy(allocation);
                 EXPECT_EQ(object, "further buffers") << testing::PrintToString(allocation.frames);
                 ++further_buffers;
               }
             });
    EXPECT_LE(further_buffers, slice_kib == 0 ? 8 : 4 * 8) << "a shard keeps its further buffers";
  }
}

class GrpcAllocationTest : public testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Codecs, GrpcAllocationTest,
                         testing::Values("fp32", "fp16", "int8", "topk:0.1", "sign"),
                         [](const auto& codec) {
                           return codec.param.substr(0, codec.param.find(':'));
                         });

// One bucket a step, so that the counter has room for the allocations of a step.
TEST_P(GrpcAllocationTest, NothingButGrpcMakesAStepAllocate) {
  std::map<std::string, int> by_object;
  RunSteps({.codec = GetParam()}, [&](const std::function<void()>& step) {
    AllocationCounter::Start();
    step();
    AllocationCounter::Stop();
    for (const AllocationCounter::Allocation& allocation : AllocationCounter::Seen()) {
      const std::string object = AskedBy(allocation);
      ++by_object[object];
      EXPECT_TRUE(object.starts_with("libgrpc") || object == "gRPC's headers" ||
                  object == "further buffers" || object == "helper libraries")
          << object << testing::PrintToString(allocation.frames);
    }
  });
  EXPECT_FALSE(by_object.empty()) << "nothing was counted";
  EXPECT_LE(by_object["further buffers"], 8) << "a shard keeps its further buffers";
  for (const auto& [object, count] : by_object) {
    std::cout << object << ": " << static_cast<double>(count) / kSteps << " allocations a bucket\n";
  }
}

}  // namespace
}  // namespace ringside

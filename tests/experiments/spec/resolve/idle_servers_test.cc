#include "ringside/experiments/spec/resolve/idle_servers.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ringside/paramserver/slicing/slice_sizes.h"
#include "tests/experiments/test_catalog.h"

namespace ringside {
namespace {

TEST(IdleServers, AreThoseBeyondTheBuckets) {
  const std::vector<TensorSpec> tensors{{"b", 4}, {"a", 1 << 20}};
  RunSpec spec(TestCatalog());
  spec.servers = 4;
  const auto idle = [&](std::int64_t bucket_bytes) {
    spec.bucket_bytes = bucket_bytes;
    return IdleServers(spec, tensors);
  };
  EXPECT_EQ(idle(0), 2) << "a bucket a tensor";
  EXPECT_EQ(idle(3), 2) << "no float fits";
  EXPECT_EQ(idle(4 << 20), 2);
  EXPECT_EQ(idle(2 << 20), 1);
  EXPECT_EQ(idle(1 << 20), 0);
}

TEST(IdleServers, BetweenHostsAreThoseBeyondTheSlices) {
  const std::vector<TensorSpec> tensors{{"a", 1 << 20}};  // 4 MiB: two buckets, the first is small
  RunSpec spec(TestCatalog());
  spec.strategy = "ps-sync";
  spec.workers = 4;
  spec.servers = 17;
  spec.bucket_bytes = 4 << 20;
  EXPECT_EQ(IdleServers(spec, tensors), 15);
  spec.network = ParseNetwork("10Gbps");
  EXPECT_EQ(IdleServers(spec, tensors), 0) << "slices of 96 KiB";
  spec.options.Set(kSliceKb, 256);
  EXPECT_EQ(IdleServers(spec, tensors), 1);
  spec.network = ParseNetwork("rate=10Gbps,hosts=1,servers=workers");
  EXPECT_EQ(IdleServers(spec, tensors), 15) << "within a host buckets stay whole";
  spec.network = ParseNetwork("10Gbps");
  spec.strategy = "ps-backup";
  EXPECT_EQ(IdleServers(spec, tensors), 0) << "its buckets are as small as slices";
}

TEST(IdleServers, TakeNoPlanOfAModelThatNoMemoryHolds) {
  RunSpec spec(TestCatalog());
  spec.servers = 8;
  const std::vector<TensorSpec> tensors(4, {"huge", std::size_t{1} << 61});
  EXPECT_EQ(IdleServers(spec, tensors), 0);
}

}  // namespace
}  // namespace ringside

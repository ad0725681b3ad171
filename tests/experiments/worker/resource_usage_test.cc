#include "ringside/experiments/worker/resource_usage.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace ringside {
namespace {

TEST(ResourceUsage, IsMeasured) {
  EXPECT_GT(PeakRssBytes(), 1 << 20);
  const double before = CpuSeconds();
  volatile std::uint64_t count = 0;
  while (CpuSeconds() == before) count = count + 1;
  EXPECT_GT(CpuSeconds(), before);
  EXPECT_EQ(OpenSocketBytes("").sent, 0);
}

}  // namespace
}  // namespace ringside

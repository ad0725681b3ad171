#include "ringside/common/strategy/gpu_count.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ringside {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

TEST(GpuCount, AGpuIsEnough) {
  EXPECT_THAT(WhyNoGpu({.gpus = 1, .driver_version = 13000, .runtime_version = 13000}), IsEmpty());
}

TEST(GpuCount, AMachineWithoutGpusHasWhatCudaSays) {
  const std::string reason =
      WhyNoGpu({.error = "no device", .driver_version = 13000, .runtime_version = 12040});
  EXPECT_THAT(reason, AllOf(StartsWith("no GPU is found on "), HasSubstr(" (no device); ")));
  EXPECT_THAT(WhyNoGpu({.driver_version = 13000, .runtime_version = 13000}),
              HasSubstr("(CUDA counts 0)"));
}

// CUDA calls both a driver that is too old.
TEST(GpuCount, ADriverThatIsTooOldIsNotOneThatIsNotThere) {
  const std::string old =
      WhyNoGpu({.error = "too old", .driver_version = 11040, .runtime_version = 13010});
  EXPECT_THAT(old, HasSubstr("(too old: the driver knows CUDA 11.4, but the library is that of "
                             "CUDA 13.1)"));
  const std::string none = WhyNoGpu({.error = "too old", .runtime_version = 13000});
  EXPECT_THAT(none,
              AllOf(HasSubstr("(too old: no NVIDIA driver is loaded)"), Not(HasSubstr("0.0"))));
}

}  // namespace
}  // namespace ringside

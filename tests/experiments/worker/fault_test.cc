#include "ringside/experiments/worker/fault.h"

#include <gtest/gtest.h>

#include "ringside/common/core/errors.h"

namespace ringside {
namespace {

TEST(Fault, IsParsedOrRefused) {
  EXPECT_FALSE(Fault::Parse(""));
  const auto fault = Fault::Parse("freeze@rank12:step345");
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, Fault::Kind::kFreeze);
  EXPECT_EQ(fault->rank, 12);
  EXPECT_EQ(fault->step, 345);
  for (const char* text : {"kill", "kill@rank1", "melt@rank1:step2", "kill@rank1:step2x"}) {
    EXPECT_THROW(Fault::Parse(text), ConfigError) << text;
  }
}

}  // namespace
}  // namespace ringside

#include "ringside/experiments/job/core/job_options.h"

#include <gtest/gtest.h>

#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

TEST(OnFailure, IsParsedOrRefused) {
  EXPECT_EQ(ParseOnFailure("shrink"), OnFailure::kShrink);
  EXPECT_THROW(ParseOnFailure("melt"), ConfigError);
}

}  // namespace
}  // namespace ringside

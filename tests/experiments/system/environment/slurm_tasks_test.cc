#include "ringside/experiments/system/environment/slurm_tasks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

using ::testing::ElementsAre;

TEST(SlurmTasks, AreReadForEachNode) {
  EXPECT_THAT(ParseTasksPerNode("V", "4"), ElementsAre(4));
  EXPECT_THAT(ParseTasksPerNode("V", "3,1"), ElementsAre(3, 1));
  EXPECT_THAT(ParseTasksPerNode("V", "2(x3),1,5(x2)"), ElementsAre(2, 2, 2, 1, 5, 5));
  EXPECT_EQ(ParseTasksPerNode("V", "1(x65536)").size(), 65'536U);
}

// A list of the environment must not take memory without end.
TEST(SlurmTasks, MoreNodesThanSlurmHasAreRefused) {
  for (const char* list : {"1(x65537)", "1(x2147483647)", "1(x65536),1", "1(x99999999999)"}) {
    EXPECT_THROW(ParseTasksPerNode("V", list), ConfigError) << list;
  }
}

}  // namespace
}  // namespace ringside

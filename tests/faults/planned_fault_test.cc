#include "tests/faults/planned_fault.h"

#include <gtest/gtest.h>

#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

TEST(PlannedFault, NamesMemberStepPointAndBucket) {
  const PlannedFault fault = PlannedFault::Parse("freeze@rank12:step345");
  EXPECT_EQ(fault.kind, PlannedFault::Kind::kFreeze);
  EXPECT_EQ(fault.who, PlannedFault::Who::kWorker);
  EXPECT_EQ(fault.member, 12);
  EXPECT_EQ(fault.step, 345);
  EXPECT_EQ(fault.point, fault_points::kStepBegins);
  EXPECT_FALSE(fault.bucket);
  const PlannedFault server = PlannedFault::Parse("kill@server1:step0:shard.applied:bucket2");
  EXPECT_EQ(server.who, PlannedFault::Who::kServer);
  EXPECT_EQ(server.member, 1);
  EXPECT_EQ(server.point, fault_points::kShardApplied);
  EXPECT_EQ(server.bucket, 2);
  EXPECT_EQ(PlannedFault::Parse("nan@any:step1").point, fault_points::kStepComputed);
  EXPECT_EQ(PlannedFault::Parse("bloat@server0:step1:shard.applied").kind,
            PlannedFault::Kind::kBloat);
  EXPECT_EQ(PlannedFault::Parse("flip@any:step1").bucket, 0);
}

TEST(PlannedFault, RefusesOtherText) {
  for (const char* text :
       {"", "kill", "kill@rank1", "melt@rank1:step2", "kill@rank1:step2x", "kill@rank:step2",
        "kill@rank1:step2:nowhere", "inf@rank1:step2:step.begins", "kill@rank1:step2:step.begins:3",
        "@rank1:step2", "kill@rank1:step2:step.begins:bucket1:more"}) {
    EXPECT_THROW(PlannedFault::Parse(text), ConfigError) << text;
  }
}

}  // namespace
}  // namespace ringside

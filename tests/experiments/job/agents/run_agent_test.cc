#include "ringside/experiments/job/agents/run_agent.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/job/agents/rank_starter.h"
#include "tests/experiments/job/job_testing.h"

namespace ringside {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(AgentArguments, AreReadAsTheyAreWritten) {
  const AgentArguments arguments{
      .coordinator = "[::1]:5", .token_file = "/t", .tls = "certs", .quiet = true};
  const AgentArguments again = AgentArguments::Parse(arguments.ToArguments());
  EXPECT_EQ(again.coordinator, arguments.coordinator);
  EXPECT_EQ(again.token_file, arguments.token_file);
  EXPECT_EQ(again.tls, arguments.tls);
  EXPECT_TRUE(again.quiet);
  EXPECT_FALSE(AgentArguments::Parse({"--coordinator", "h:1", "--token-file", "-"}).quiet);
}

TEST(AgentArguments, AreForTheLauncherAlone) {
  for (const std::vector<std::string>& wrong :
       {std::vector<std::string>{},
        {"--coordinator", "h:1"},
        {"--token-file", "-"},
        {"--coordinator", "h:1", "--token-file"},
        {"--else", "--coordinator", "h:1", "--token-file", "-"}}) {
    EXPECT_THROW(AgentArguments::Parse(wrong), UsageError);
  }
}

TEST(AgentPlan, TellsAgentsNoSecret) {
  AgentPlan plan;
  plan.placement = PlaceHere(2, 1);
  plan.setup.token = "the secret";
  plan.setup.spec = ProfileSpec("ring", 2, 3);
  EXPECT_THAT(plan.ToJson(), Not(HasSubstr("the secret")));
  EXPECT_THAT(plan.ToJson(), HasSubstr("placement"));
}

}  // namespace
}  // namespace ringside

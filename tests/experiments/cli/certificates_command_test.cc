// `ringside certificates` of the real executable, and runs with what it makes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "tests/experiments/cli/ringside_process.h"

namespace ringside {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

constexpr char kSmall[] =
    "train --model profile:mobilenet-v2 --steps 4 --compute-ms 1 --workers 2 --out run";

class CertificatesCommand : public RingsideProcessTest {};

TEST_F(CertificatesCommand, MakesRenewsAndChecksWhatRunsUse) {
  const ProcessResult made = RunRingside("certificates make certs --days 2");
  EXPECT_EQ(made.exit_code, 0) << made.err;
  EXPECT_THAT(made.out, HasSubstr("valid until 20"));
  EXPECT_THAT(RunRingside("certificates make certs").err, HasSubstr("is there already"));
  EXPECT_EQ(RunRingside("certificates renew certs").exit_code, 0);
  EXPECT_EQ(RunRingside("certificates check certs").exit_code, 0);
  const std::string run =
      std::string(kSmall) + " --strategy ps-sync --ps-transport grpc --force --json";
  for (const auto& [flag, variable] : std::vector<std::pair<std::string, std::string>>{
           {" --tls certs", ""}, {"", "RINGSIDE_TLS=certs"}}) {
    const ProcessResult result = RunRingside(run + flag, variable);
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_EQ(json::parse(result.out)["tls"], true);
  }
  std::filesystem::permissions(scratch() + "/certs/key.pem", std::filesystem::perms(0644));
  EXPECT_EQ(RunRingside("certificates check certs").exit_code, 1);
  const ProcessResult refused = RunRingside(run + " --tls certs");
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_THAT(refused.err, HasSubstr("certs/key.pem: expected a file of this user's"));
}

}  // namespace
}  // namespace ringside

#include "ringside/experiments/bench/bench_fidelity.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <vector>

namespace ringside {
namespace {

nlohmann::json Job(const char* strategy, const nlohmann::json& verdict, double idle) {
  return {{"strategy", strategy},
          {"verdict", verdict},
          {"limited_by",
           verdict == "limited" ? nlohmann::json{"the processor: busy"} : nlohmann::json::array()},
          {"not_judged", verdict.is_null() ? "too short" : ""},
          {"least_idle_share", idle}};
}

TEST(BenchFidelity, IsNullWithoutJobsOnEmulatedHosts) {
  EXPECT_EQ(WorstFidelity({}), nullptr);
  EXPECT_EQ(BenchFidelityText(nullptr), "");
}

TEST(BenchFidelity, IsOkWhenEveryJobIs) {
  const std::vector<nlohmann::json> jobs{Job("ring", "ok", 0.9), Job("tree", "ok", 0.4)};
  const nlohmann::json worst = WorstFidelity(jobs);
  EXPECT_EQ(worst.at("strategy"), "tree");
  EXPECT_EQ(worst.at("jobs"), 2);
  EXPECT_EQ(worst.at("limited_jobs"), 0);
  EXPECT_EQ(BenchFidelityText(worst), "fidelity: ok\n");
}

TEST(BenchFidelity, IsThatOfTheWorstJob) {
  std::vector<nlohmann::json> jobs{Job("ring", "ok", 0.9), Job("tree", nullptr, 0.1)};
  EXPECT_EQ(BenchFidelityText(WorstFidelity(jobs)),
            "fidelity: not judged: too short (tree; 1 of 2 jobs not judged)\n");
  jobs.push_back(Job("auto", "limited", 0.3));
  jobs.push_back(Job("ps-sync", "limited", 0.2));
  const nlohmann::json worst = WorstFidelity(jobs);
  EXPECT_EQ(worst.at("not_judged_jobs"), 1);
  EXPECT_EQ(BenchFidelityText(worst),
            "fidelity: limited by the processor: busy (ps-sync; 2 of 4 jobs limited)\n");
}

}  // namespace
}  // namespace ringside

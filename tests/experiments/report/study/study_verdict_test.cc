#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "ringside/paramserver/transports/transport_table.h"
#include "tests/experiments/report/study/study_testing.h"

namespace ringside {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(StudyVerdict, NameRunsThatWentOnWithoutAWorker) {
  std::vector<RunResult> runs;
  AddRuns(runs, "ring", 4, 1000);
  AddRuns(runs, "ps-async", 4, 800);
  EXPECT_THAT(TableOf(runs).verdict.caveats, Not(Contains(HasSubstr("lost worker"))));
  runs.back().summary["lost_workers"] = nlohmann::json::array();
  const nlohmann::json lost{{"worker", 2}, {"step", 7}, {"reason", "killed"}};
  runs.back().summary["lost_workers"].push_back(lost);
  EXPECT_THAT(TableOf(runs).verdict.caveats,
              Contains(HasSubstr("1 run went on without a lost worker, and so with fewer samples: "
                                 "ps-async4-4 without worker 2.")));
}

TEST(StudyVerdict, SayWhereTheCoresWereBusy) {
  const auto caveats = [](double busy, bool judged) {
    std::vector<RunResult> runs;
    AddRuns(runs, "ring", 4, 1000);
    AddRuns(runs, "ps-sync", 4, 800);
    for (RunResult& run : runs) {
      run.summary["machine_busy"] = run.spec.strategy == "ring" ? busy : 0.5;
      if (judged) run.summary["fidelity"] = {{"verdict", "ok"}};
    }
    return TableOf(std::move(runs)).verdict.caveats;
  };
  EXPECT_THAT(caveats(0.9, false),
              Contains(HasSubstr("In 1 of 2 configurations the machine's cores were 90 % busy.")));
  EXPECT_THAT(caveats(0.7, false), Not(Contains(HasSubstr("cores"))));
  EXPECT_THAT(caveats(0.9, true), Not(Contains(HasSubstr("cores"))));
}

TEST(StudyVerdict, SayWhereAccuraciesDiffer) {
  std::vector<RunResult> runs;
  for (const double rate : {1e9, 1e10}) {
    const std::size_t first = runs.size();
    AddRuns(runs, "ring", 4, 1000);
    AddRuns(runs, "ps-sync", 4, 800);
    for (std::size_t i = first; i < runs.size(); ++i) {
      runs[i].spec.link_bits_per_s = rate;
      runs[i].directory += std::to_string(rate);
      const bool differs = rate > 5e9 && runs[i].spec.strategy == "ring";
      runs[i].summary["eval_accuracy"] = differs ? 0.9 : 0.98;
    }
  }
  EXPECT_THAT(TableOf(std::move(runs)).verdict.caveats,
              Contains("With 4 workers at 10 Gbit/s (declared), ps-sync with 1 server ends at an "
                       "accuracy of 98.00 %, ring at 90.00 %."));
}

TEST(StudyVerdict, MarkTransportsThatDifferInEitherDirection) {
  const auto table = [](const char* ring, const char* transport) {
    std::vector<RunResult> runs;
    AddRuns(runs, ring, 2, 2000);
    AddRuns(runs, "ps-sync", 2, 1000);
    for (RunResult& run : runs) {
      if (run.spec.servers > 0) run.spec.options.Set(kPsTransport, transport);
    }
    return TableOf(runs);
  };
  const auto caveat = [](const char* server, const char* ring) {
    return std::string("Servers over ") + server + " are compared with rings over " + ring +
           ": transports differ too.";
  };
  const StudyTable memory = table("shm", "grpc");
  EXPECT_THAT(memory.verdict.caveats, Contains(caveat("grpc", "shm")));
  EXPECT_TRUE(memory.findings[0].transports_differ);
  EXPECT_THAT(memory.findings[0].sentence,
              ::testing::EndsWith("; transports differ: shm against grpc"));
  EXPECT_THAT(table("hierarchical", "grpc").verdict.caveats, Contains(caveat("grpc", "shm")));
  EXPECT_THAT(table("auto", "grpc").verdict.caveats, Contains(caveat("grpc", "shm or tcp")));
  EXPECT_THAT(table("mpi", "grpc").verdict.caveats, Contains(caveat("grpc", "mpi")));
  EXPECT_THAT(table("ring", "shm").verdict.caveats, Contains(caveat("shm", "tcp")));
  EXPECT_THAT(table("shm", "uds").verdict.caveats, Contains(caveat("uds", "shm")));
  EXPECT_THAT(table("ring", "grpc").verdict.caveats, Contains(caveat("grpc", "tcp")));
  for (const StudyTable& alike : {table("ring", "tcp"), table("shm", "shm")}) {
    EXPECT_FALSE(alike.findings[0].transports_differ);
    EXPECT_THAT(alike.verdict.caveats, Not(Contains(HasSubstr("transports"))));
    EXPECT_THAT(alike.findings[0].sentence, Not(HasSubstr("transports")));
  }
}

/// Runs of a ring and of shm, and of servers over each of the transports.
std::vector<RunResult> RunsOverTransports(
    const std::vector<std::pair<const char*, double>>& servers) {
  std::vector<RunResult> runs;
  AddRuns(runs, "ring", 2, 1000);
  AddRuns(runs, "shm", 2, 2000);
  for (const auto& [transport, samples_per_s] : servers) {
    const std::size_t first = runs.size();
    AddRuns(runs, "ps-sync", 2, samples_per_s);
    for (std::size_t i = first; i < runs.size(); ++i) {
      runs[i].spec.options.Set(kPsTransport, transport);
      runs[i].directory += transport;
    }
  }
  return runs;
}

TEST(StudyVerdict, JudgeOverTheSameTransportThoughAnotherIsFaster) {
  const StudyTable table = TableOf(RunsOverTransports({{"tcp", 500}}));
  ASSERT_EQ(table.findings.size(), 2U);
  EXPECT_EQ(table.findings[0].medium, "tcp");
  EXPECT_THAT(
      table.findings[0].sentence,
      HasSubstr("With 2 workers over tcp, ring is 2.00x as fast as ps-sync with 1 server ("));
  EXPECT_EQ(table.findings[1].medium, "");
  EXPECT_TRUE(table.findings[1].transports_differ);
  EXPECT_THAT(table.findings[1].sentence,
              AllOf(HasSubstr("With 2 workers, shm is 4.00x as fast as ps-sync with 1 server ("),
                    ::testing::EndsWith("; transports differ: shm against tcp")));
  EXPECT_THAT(table.verdict.sentence, HasSubstr("with 2 workers (2.00x)"));
  EXPECT_THAT(table.verdict.caveats, Contains(HasSubstr("listed as findings of their own")));
  EXPECT_THAT(table.verdict.caveats, Not(Contains(HasSubstr("transports differ too"))));
}

TEST(StudyVerdict, HaveOneForEachMediumThatBothUse) {
  const StudyTable table = TableOf(RunsOverTransports({{"tcp", 1500}, {"shm", 500}}));
  ASSERT_EQ(table.findings.size(), 3U);
  EXPECT_EQ(table.findings[0].medium, "shm");
  EXPECT_EQ(table.findings[0].winner, "ring");
  EXPECT_EQ(table.findings[1].medium, "tcp");
  EXPECT_EQ(table.findings[1].winner, "parameter server");
  EXPECT_TRUE(table.findings[2].transports_differ);
  EXPECT_EQ(table.verdict.winner, "depends");
  EXPECT_THAT(
      table.verdict.sentence,
      ::testing::StartsWith(
          "It depends. The best ring is 4.00x as fast as the best parameter server in 1 of 2 "
          "comparisons. The best parameter server is 1.50x as fast as the best ring in 1. "));
  EXPECT_THAT(table.verdict.details, ElementsAre(HasSubstr("with 2 workers over shm (4.00x)"),
                                                 HasSubstr("with 2 workers over tcp (1.50x)")));
}

TEST(StudyVerdict, HaveNoneAcrossTransportsIfTheFastestTwoUseOne) {
  const StudyTable table = TableOf(RunsOverTransports({{"tcp", 500}, {"shm", 900}}));
  ASSERT_EQ(table.findings.size(), 2U);
  EXPECT_EQ(table.findings[0].medium, "shm");
  EXPECT_EQ(table.findings[1].medium, "tcp");
  EXPECT_THAT(table.verdict.caveats, Not(Contains(HasSubstr("ransports"))));
}

/// Runs of a ring, of co-located servers and of two dedicated ones on emulated hosts.
std::vector<RunResult> RunsOnHosts(double ring, double colocated, double dedicated) {
  std::vector<RunResult> runs;
  AddRuns(runs, "ring", 4, ring);
  AddRuns(runs, "ps-sync", 4, colocated);
  for (RunResult& run : runs) {
    if (run.spec.servers == 0) continue;
    run.spec.servers = 4;
    run.spec.colocated = true;
  }
  const std::size_t first = runs.size();
  AddRuns(runs, "ps-sync", 4, dedicated);
  for (std::size_t i = first; i < runs.size(); ++i) {
    runs[i].spec.servers = 2;
    runs[i].directory += "-dedicated";
  }
  for (RunResult& run : runs) run.spec.network.emplace();
  return runs;
}

TEST(StudyVerdict, JudgeServersWithHostsOfTheirOwnApart) {
  const StudyTable table = TableOf(RunsOnHosts(1000, 500, 1500));
  ASSERT_EQ(table.findings.size(), 2U);
  EXPECT_EQ(table.findings[0].server_hosts, 0);
  EXPECT_EQ(table.findings[0].winner, "ring");
  EXPECT_EQ(table.findings[1].server_hosts, 2);
  EXPECT_EQ(table.findings[1].winner, "parameter server");
  EXPECT_THAT(table.findings[1].sentence, ::testing::EndsWith("; the servers have 2 hosts more"));
  EXPECT_EQ(table.verdict.winner, "ring") << "on the same hosts";
  EXPECT_EQ(
      table.verdict.sentence,
      "On the same hosts the best ring is faster than the best parameter server with 4 workers "
      "(2.00x). This is sure: every 95 % interval leaves out equality. With 2 more hosts for "
      "servers "
      "the best parameter server is faster than the best ring with 4 workers (1.50x). This is "
      "sure: "
      "every 95 % interval leaves out equality.");
}

TEST(StudyVerdict, JudgeServersWithHostsOfTheirOwnWhereThereAreNoOthers) {
  std::vector<RunResult> runs = RunsOnHosts(1000, 500, 1500);
  std::erase_if(runs, [](const RunResult& run) { return run.spec.colocated; });
  const StudyTable table = TableOf(std::move(runs));
  EXPECT_EQ(table.verdict.winner, "parameter server");
  EXPECT_THAT(table.verdict.sentence, ::testing::StartsWith("With 2 more hosts for servers the"));
}

TEST(StudyVerdict, SayThatBothAreEquallyFast) {
  const StudyTable table = TableOf(RunsOnHosts(1000, 1010, 1500));
  EXPECT_EQ(table.findings[0].certainty, Certainty::kEqual);
  EXPECT_EQ(table.findings[0].winner, "neither");
  EXPECT_THAT(
      table.findings[0].sentence,
      HasSubstr("With 4 workers, ps-sync with 4 co-located servers and ring tie within 2 %: "));
  EXPECT_EQ(table.verdict.winner, "neither");
  EXPECT_EQ(table.verdict.certainty, Certainty::kEqual);
  EXPECT_THAT(
      table.verdict.sentence,
      ::testing::StartsWith("On the same hosts the best ring and the best parameter server "
                            "tie within 2 % with 4 workers. This is sure: every 95 % interval "
                            "lies within 2 % of equality. With"));
}

TEST(StudyVerdict, NameEveryPlaceOnceAndInOrder) {
  std::vector<RunResult> runs;
  for (const double rate : {3e8, 1e9, 1e10}) {
    const std::size_t first = runs.size();
    AddRuns(runs, "ring", 4, 1000);
    AddRuns(runs, "ps-sync", 4, rate > 5e9 ? 1005 : 1100);
    for (std::size_t i = first; i < runs.size(); ++i) {
      runs[i].spec.link_bits_per_s = rate;
      runs[i].directory += std::to_string(rate);
    }
  }
  const StudyTable table = TableOf(std::move(runs));
  ASSERT_EQ(table.findings.size(), 3U);
  EXPECT_EQ(table.verdict.sentence,
            "The best parameter server is 1.10x as fast as the best ring in 2 of 3 comparisons. "
            "They tie within 2 % in 1. This is sure: every 95 % interval leaves out equality or "
            "lies within "
            "2 % of it.");
  EXPECT_THAT(table.verdict.details,
              ElementsAre("The best parameter server is faster than the best ring with 4 workers "
                          "at 300 Mbit/s (declared) (1.10x) and 1 Gbit/s (declared) (1.10x).",
                          "The best ring and the best parameter server tie within 2 % with 4 "
                          "workers at 10 Gbit/s (declared)."));
  EXPECT_THAT(table.findings[2].varied.at("link_bits_per_s"), ::testing::StartsWith("1"));
  EXPECT_EQ(table.findings[2].certainty, Certainty::kEqual);
}

// Where the runs show nothing, the verdict does not say that all intervals show something.
TEST(StudyVerdict, AreNotSureOfWhatTheRunsDoNotShow) {
  const auto with = [](double ps_rate) {
    std::vector<RunResult> runs;
    for (int i = 0; i < 5; ++i) {
      for (const auto& [link, ps, noise] : {std::tuple{1e9, 1000.0, 0.2}, {1e10, ps_rate, 0.002}}) {
        const std::size_t first = runs.size();
        runs.push_back(OneRun("ring", 4, 1000, i));
        runs.push_back(OneRun("ps-sync", 4, ps * (1 + noise * (i - 2)), i));
        for (std::size_t at = first; at < runs.size(); ++at) {
          runs[at].spec.link_bits_per_s = link;
          runs[at].directory += std::to_string(link);
        }
      }
    }
    return TableOf(std::move(runs)).verdict;
  };
  const StudyVerdict clear = with(1500);
  EXPECT_EQ(clear.certainty, Certainty::kClear);
  EXPECT_THAT(clear.sentence,
              ::testing::EndsWith("They tie within their uncertainty in 1. The other one is sure: "
                                  "its 95 % interval leaves out equality."));
  const StudyVerdict equal = with(1001);
  EXPECT_EQ(equal.certainty, Certainty::kEqual);
  EXPECT_THAT(equal.sentence,
              ::testing::EndsWith("They tie within their uncertainty in 1. The other one is sure: "
                                  "its 95 % interval lies within 2 % of equality."));
}

TEST(StudyVerdict, SayOnceWhatPlacesShare) {
  std::vector<RunResult> runs;
  const auto add = [&](const char* model, double compute_ms, int workers) {
    const std::size_t first = runs.size();
    AddRuns(runs, "ring", workers, 1000);
    AddRuns(runs, "ps-sync", workers, 800);
    for (std::size_t i = first; i < runs.size(); ++i) {
      runs[i].spec.model = model;
      runs[i].spec.compute_ms = compute_ms;
      runs[i].directory += model;
    }
  };
  add("profile:resnet50", 30, 2);
  add("profile:resnet50", 30, 4);
  add("profile:vgg16", 100, 4);
  const StudyVerdict verdict = TableOf(std::move(runs)).verdict;
  EXPECT_THAT(
      verdict.sentence,
      ::testing::StartsWith("The best ring is 1.25x as fast as the best parameter server in "
                            "all 3 comparisons. This is sure: "));
  EXPECT_THAT(verdict.details,
              ElementsAre("The best ring is faster than the best parameter server with 4 workers "
                          "(1.25x), model profile:vgg16; and with 2 (1.25x) and 4 (1.25x) workers, "
                          "model profile:resnet50."));
}

}  // namespace
}  // namespace ringside

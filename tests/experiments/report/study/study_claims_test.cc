#include "ringside/experiments/report/study/study_claims.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "ringside/experiments/report/render/html_report.h"
#include "ringside/experiments/report/render/markdown.h"
#include "ringside/experiments/report/render/study_render.h"
#include "ringside/experiments/report/study/study_table.h"
#include "ringside/paramserver/transports/transport_table.h"
#include "tests/experiments/test_catalog.h"

namespace ringside {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int kSamples = 100;

struct Setting {
  std::string strategy;
  int workers = 4;
  int servers = 0;
  bool colocated = false;
};

/// Adds `repetitions` runs whose step times are `step_ms` and up to 2 % more.
void Add(StudyInput& study, const Setting& setting, double step_ms, int repetitions = 5,
         const std::function<void(RunResult&, int)>& change = {}) {
  for (int i = 0; i < repetitions; ++i) {
    RunResult run;
    run.spec = RunSpec(TestCatalog());
    run.spec.strategy = setting.strategy;
    run.spec.workers = setting.workers;
    run.spec.servers = setting.servers;
    run.spec.colocated = setting.colocated;
    run.spec.global_batch = kSamples;
    run.spec.repetition = i;
    const double own = step_ms * (1 + 0.005 * i);
    run.summary = {{"status", "done"},
                   {"step_ms", {{"median", own}}},
                   {"samples_per_s", 1000 * kSamples / own}};
    if (change) change(run, i);
    study.runs.push_back(std::move(run));
  }
}

std::vector<Claim> Claims(const StudyInput& study) { return MakeStudyTable(study).claims; }

Claim TheClaim(const StudyInput& study, const std::string& words) {
  for (const Claim& claim : Claims(study)) {
    if (claim.claim.find(words) != std::string::npos) return claim;
  }
  throw std::runtime_error("no claim says " + words);
}

TEST(StudyClaims, AStudyWithoutTheCellsClaimsNothing) {
  StudyInput study;
  Add(study, {"ring"}, 100);
  Add(study, {"ps-sync", 4, 1}, 400);
  EXPECT_THAT(Claims(study), IsEmpty());
}

TEST(StudyClaims, ASingleServerGrowsLinearlyOrNot) {
  StudyInput linear, flat, square, root;
  for (const int workers : {1, 2, 4, 8}) {
    Add(square, {"ps-sync", workers, 1}, 10 * workers * workers);
    Add(root, {"ps-sync", workers, 1}, 100 * std::sqrt(workers));
    Add(linear, {"ps-sync", workers, 1}, 100 * workers);
    Add(flat, {"ps-sync", workers, 1}, workers == 4 ? 200 : 100);
  }
  const Claim shown = TheClaim(linear, "grows linearly");
  EXPECT_EQ(shown.outcome, Outcome::kShown);
  EXPECT_THAT(shown.numbers, AllOf(HasSubstr("ms a worker"), HasSubstr("R² 0.99")));
  EXPECT_EQ(shown.place, "1, 2, 4, 8 workers");
  EXPECT_EQ(TheClaim(flat, "grows linearly").outcome, Outcome::kRefuted);
  // Both have an R² above 0.95.
  EXPECT_EQ(TheClaim(square, "grows linearly").outcome, Outcome::kRefuted);
  EXPECT_EQ(TheClaim(root, "grows linearly").outcome, Outcome::kRefuted);
}

TEST(StudyClaims, ALineHoldsOneSchedule) {
  StudyInput study;
  for (const auto schedule : {SendOrder::kFifo, SendOrder::kPriority}) {
    for (const int workers : {2, 4, 8}) {
      Add(study, {"ring", workers}, 2000.0 * (workers - 1) / workers, 5,
          [&](RunResult& run, int) { run.spec.options.order = schedule; });
    }
  }
  std::vector<std::string> places;
  for (const Claim& claim : Claims(study)) places.push_back(claim.place);
  EXPECT_THAT(places, ::testing::SizeIs(2));
  EXPECT_THAT(places, ::testing::Each(HasSubstr("2, 4, 8 workers")));
}

TEST(StudyClaims, ARingLevelsOffOrNot) {
  StudyInput ring, straight, few;
  for (const int workers : {1, 2, 4, 8}) {
    const double step_ms = 2000.0 * (workers - 1) / workers + 10;
    Add(ring, {"ring", workers}, step_ms);
    Add(straight, {"ring", workers}, 100.0 * workers * workers);
    Add(few, {"ring", workers}, step_ms, 3);
  }
  EXPECT_EQ(TheClaim(ring, "levels off").outcome, Outcome::kShown);
  EXPECT_EQ(TheClaim(ring, "levels off").place, "2, 4, 8 workers");
  EXPECT_EQ(TheClaim(straight, "levels off").outcome, Outcome::kRefuted);
  EXPECT_EQ(TheClaim(few, "levels off").outcome, Outcome::kUndecided);
}

TEST(StudyClaims, EnoughDedicatedServersAreHeldAgainstTheRing) {
  // With N = 4 the limit is 16/6 servers, so it holds for three and more.
  const auto with = [](double step_ms) {
    StudyInput study;
    Add(study, {"ring"}, 150);
    Add(study, {"ps-sync", 4, 2}, 10);
    Add(study, {"ps-sync", 4, 3}, step_ms);
    return study;
  };
  EXPECT_EQ(Claims(with(100)).size(), 1U);
  const Claim shown = TheClaim(with(100), "S > N²/(2(N−1))");
  EXPECT_EQ(shown.outcome, Outcome::kShown);
  EXPECT_THAT(shown.claim, HasSubstr("ps-sync with 3 servers"));
  EXPECT_THAT(shown.numbers, HasSubstr("1.500 (95 % interval 1.500 to 1.500, 5 pairs)"));
  EXPECT_EQ(TheClaim(with(200), "S > N").outcome, Outcome::kRefuted);
  const Claim equal = TheClaim(with(150), "S > N");
  EXPECT_EQ(equal.outcome, Outcome::kRefuted);
  EXPECT_THAT(equal.numbers, HasSubstr("5 pairs): a tie within 2 %"));
  EXPECT_EQ(TheClaim(with(148), "S > N").outcome, Outcome::kRefuted) << "1.4 % is no difference";
}

TEST(StudyClaims, SayThatServersAndRingTakeDifferentTransports) {
  const auto numbers = [](const char* transport) {
    StudyInput study;
    Add(study, {"ring"}, 150);
    Add(study, {"ps-sync", 4, 3}, 100, 5,
        [=](RunResult& run, int) { run.spec.options.Set(kPsTransport, transport); });
    return TheClaim(study, "S > N").numbers;
  };
  EXPECT_THAT(numbers("shm"), HasSubstr("; transports differ: shm against tcp"));
  EXPECT_THAT(numbers("grpc"), HasSubstr("; transports differ: grpc against tcp"));
  EXPECT_THAT(numbers("tcp"), ::testing::Not(HasSubstr("transports")));
}

TEST(StudyClaims, SayWhatKeptServersOffTheirBound) {
  StudyInput study;
  Add(study, {"ring"}, 150);
  Add(study, {"ps-sync", 4, 4}, 200, 5, [](RunResult& run, int) {
    run.summary["bound_ms"] = 100;
    run.summary["bound_ratio"] = 2;
  });
  EXPECT_THAT(TheClaim(study, "S > N").numbers,
              HasSubstr("; its step takes 2.00 times its bound: not explained"));
}

TEST(StudyClaims, CoLocatedServersAreHeldAgainstTheRing) {
  const auto outcome = [](double step_ms) {
    StudyInput study;
    Add(study, {"ring"}, 100);
    Add(study, {"ps-sync", 4, 4, true}, step_ms);
    return TheClaim(study, "is as fast as ring").outcome;
  };
  EXPECT_EQ(outcome(105), Outcome::kShown);
  EXPECT_EQ(outcome(95), Outcome::kShown);
  EXPECT_EQ(outcome(130), Outcome::kRefuted);
  EXPECT_EQ(outcome(70), Outcome::kRefuted);
}

TEST(StudyClaims, AsynchronousUpdatesAreLateByTheOtherWorkers) {
  const auto outcome = [](double mean) {
    StudyInput study;
    Add(study, {"ps-async", 4, 1}, 100, 5, [&](RunResult& run, int i) {
      run.summary["staleness"] = {{"mean", mean + 0.01 * i}};
    });
    return TheClaim(study, "N−1 = 3 versions late").outcome;
  };
  EXPECT_EQ(outcome(2.95), Outcome::kShown);
  EXPECT_EQ(outcome(1.5), Outcome::kRefuted);
  EXPECT_EQ(outcome(3.28), Outcome::kUndecided);
}

TEST(StudyClaims, SayWhyStalenessDiffersUnderStragglers) {
  const auto claim = [](double straggler_ms) {
    StudyInput study;
    Add(study, {"ps-async", 4, 1}, 100, 5, [&](RunResult& run, int) {
      run.summary["staleness"] = {{"mean", 1.5}};
      run.summary["straggler_ms"] = straggler_ms;
    });
    return TheClaim(study, "N−1 = 3 versions late");
  };
  EXPECT_EQ(claim(20).outcome, Outcome::kRefuted);
  EXPECT_THAT(claim(20).numbers, HasSubstr("a slowed one pushes rarely"));
  EXPECT_THAT(claim(0).numbers, ::testing::Not(HasSubstr("slowed")));
}

TEST(StudyClaims, RelaxedStrategiesAreHeldAgainstTheirSiblingUnderStragglers) {
  const auto study = [](double straggler_ms, double accuracy) {
    StudyInput made;
    const auto with = [=](double own) {
      return [=](RunResult& run, int i) {
        run.summary["straggler_ms"] = straggler_ms;
        run.summary["eval_accuracy"] = own + 0.001 * i;
      };
    };
    Add(made, {"ps-sync", 4, 1}, 200, 5, with(0.97));
    Add(made, {"ps-async", 4, 1}, 100, 5, with(accuracy));
    return made;
  };
  const Claim faster =
      TheClaim(study(10, 0.95), "under stragglers ps-async with 1 server is faster");
  EXPECT_EQ(faster.outcome, Outcome::kShown);
  EXPECT_THAT(faster.numbers, HasSubstr("2.000"));
  const Claim less = TheClaim(study(10, 0.95), "is less accurate");
  EXPECT_EQ(less.outcome, Outcome::kShown);
  EXPECT_THAT(less.numbers, HasSubstr("-2.00 points (95 % interval -2.00 to -2.00, 5 pairs)"));
  EXPECT_EQ(TheClaim(study(10, 0.97), "is less accurate").outcome, Outcome::kRefuted);
  for (const Claim& claim : Claims(study(0, 0.95))) {
    EXPECT_THAT(claim.claim, ::testing::Not(HasSubstr("stragglers")));
  }
}

TEST(StudyClaims, SayThatWorkersWereSlowedUnequally) {
  const auto numbers = [](double of_ps_sync) {
    StudyInput study;
    const auto slowed_by = [](double ms) {
      return [=](RunResult& run, int) { run.summary["straggler_ms"] = ms; };
    };
    Add(study, {"ps-sync", 4, 1}, 200, 5, slowed_by(of_ps_sync));
    Add(study, {"ps-async", 4, 1}, 100, 5, slowed_by(10));
    return TheClaim(study, "is faster").numbers;
  };
  EXPECT_THAT(numbers(14), HasSubstr("; workers were slowed by 10 ms a step under ps-async with 1 "
                                     "server and by 14 ms under ps-sync with 1 server"));
  EXPECT_THAT(numbers(10.5), ::testing::Not(HasSubstr("slowed")));
}

TEST(StudyTransports, MarksStandInEveryFormOfTheReport) {
  StudyInput study;
  Add(study, {"shm"}, 100);
  Add(study, {"ps-sync", 4, 1}, 200);
  const StudyTable table = MakeStudyTable(study);
  const std::string caveat = "Servers over tcp are compared with rings over shm: transports";
  const std::string mark = "; transports differ: shm against tcp";
  EXPECT_THAT(RenderText(table), AllOf(HasSubstr(caveat), HasSubstr(mark), HasSubstr("shm *")));
  EXPECT_THAT(RenderMarkdown(table, {}),
              AllOf(HasSubstr(caveat), HasSubstr("| shm \\* | 2.000 |"), HasSubstr("| shm \\* |"),
                    HasSubstr("| tcp \\* |"), HasSubstr("\n\\* Rows over different transports")));
  EXPECT_THAT(RenderHtml(table),
              AllOf(HasSubstr(caveat), HasSubstr("\"mixes_transports\":true"),
                    HasSubstr("\"transports_differ\":true"), HasSubstr("\"transport\":\"shm\"")));
}

TEST(StudyClaims, StandInEveryFormOfTheReport) {
  StudyInput study;
  Add(study, {"ring"}, 100);
  Add(study, {"ps-sync", 4, 4, true}, 101);
  const StudyTable table = MakeStudyTable(study);
  EXPECT_THAT(RenderText(table), HasSubstr("ps-sync with 4 co-located servers is as fast"));
  EXPECT_THAT(RenderMarkdown(table, {}), HasSubstr("**ps-sync with 4 co"));
  EXPECT_EQ(RenderJson(table)["claims"][0]["outcome"], "shown");
  EXPECT_THAT(RenderHtml(table), HasSubstr("\"outcome\":\"shown\""));
}

}  // namespace
}  // namespace ringside

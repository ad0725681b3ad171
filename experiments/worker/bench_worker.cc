// One worker of a bench job. For each size, all workers wait for each other. Then they run some
// operations to warm up, timed operations one after the other, and sums that are checked.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ringside/common/base/dilated_clock.h"
#include "ringside/common/base/errors.h"
#include "ringside/common/base/fault_point.h"
#include "ringside/experiments/job/fidelity/time_window.h"
#include "ringside/experiments/spec/resolve/availability.h"
#include "ringside/experiments/statistics/steady_warmup.h"
#include "ringside/experiments/worker/member_process.h"
#include "ringside/experiments/worker/resource_usage.h"
#include "ringside/experiments/worker/run_factories.h"
#include "ringside/experiments/worker/timed_operation.h"
#include "ringside/experiments/worker/worker.h"

namespace ringside {
namespace {

using Clock = DilatedClock;

/// Converts to microseconds, exact to a nanosecond.
double Microseconds(Clock::duration duration) {
  return std::round(std::chrono::duration<double, std::nano>(duration).count()) / 1000;
}

std::unique_ptr<TimedOperation> MakeOperation(MemberProcess& process, std::int64_t bytes,
                                              int index) {
  if (auto sum = MakeTimedSum(process, bytes, index)) return sum;
  return MakeTimedPushPull(process, bytes);
}

nlohmann::json WarmupJson(const WarmupReport& report) {
  return {{"operations", report.operations},
          {"ms", report.ms},
          {"steady", report.steady ? nlohmann::json(*report.steady) : nlohmann::json()}};
}

/// Runs the operation once and returns its microseconds.
double Time(TimedOperation& operation) {
  operation.Refill();
  const Clock::time_point begin = Clock::now();
  operation.Run();
  return Microseconds(Clock::now() - begin);
}

/// Also adds when the timed operations ran.
nlohmann::json MeasureSize(MemberProcess& process, const BenchPlan& plan, int index,
                           std::vector<TimeWindow>& windows) {
  const std::int64_t bytes = plan.sizes[static_cast<std::size_t>(index)];
  const auto operation = MakeOperation(process, bytes, index);
  operation->Barrier();
  const WarmupReport warmup =
      WarmUp(plan.warmup, {.run = [&] { return Time(*operation); },
                           .slowest = [&](auto values) { operation->Slowest(values); }});
  std::vector<double> times(static_cast<std::size_t>(plan.iterations));
  using MachineClock = std::chrono::steady_clock;  // That of the watch, which is not dilated.
  TimeWindow timed{.begin = MachineClock::now(), .end = {}};
  for (double& time : times) time = Time(*operation);
  timed.end = MachineClock::now();
  windows.push_back(timed);
  nlohmann::json row{{"size", bytes}, {"times_us", times}, {"warmup", WarmupJson(warmup)}};
  const auto wrong = plan.check ? operation->CountMismatches() : std::nullopt;
  row["wrong"] = wrong ? nlohmann::json(*wrong) : nlohmann::json();
  row["notes"] = operation->Notes();
  operation->Stop();
  return row;
}

MemberResult Bench(MemberProcess& process) {
  const MemberSetup& setup = process.setup();
  if (!setup.bench) throw ConfigError("the launcher's message to this process lacks what to time");
  RequireStrategy(setup.spec);
  // Servers wait for these before they listen.
  process.client().Set("job/total_steps", "1");
  if (setup.spec.servers > 0) {
    const std::int64_t bytes = *std::ranges::max_element(setup.bench->sizes);
    PublishLargestMessage(process.client(), LargestPushPullMessage(setup.spec, bytes));
  }
  const int sizes = static_cast<int>(setup.bench->sizes.size());
  nlohmann::json rows = nlohmann::json::array();
  std::vector<TimeWindow> windows;
  FaultPoint({.point = fault_points::kWorkerStarts, .member = setup.who.index});
  int done = 0;
  while (done < sizes &&
         process.drain_barrier().MayStart(done, Deadline::After(OperationTimeout(setup.spec)))) {
    FaultPoint({.point = fault_points::kStepBegins, .step = done});
    rows.push_back(MeasureSize(process, *setup.bench, done, windows));
    ++done;
  }
  const nlohmann::json report{{"completed", done == sizes},
                              {"sizes", rows},
                              {kCountedWindowsKey, WindowsJson(windows)},
                              {"cpu_seconds", CpuSeconds()},
                              {"peak_rss_bytes", PeakRssBytes()}};
  return {report.dump()};
}

}  // namespace

int RunBenchWorker(const std::vector<std::string>& args, const Catalog& catalog) {
  return MemberProcess::Run(args, catalog, Bench);
}

}  // namespace ringside

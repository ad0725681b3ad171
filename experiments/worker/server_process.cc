#include <chrono>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "ringside/common/base/errors.h"
#include "ringside/common/base/fault_point.h"
#include "ringside/experiments/job/coordinator/job_state.h"
#include "ringside/experiments/worker/member_process.h"
#include "ringside/experiments/worker/program_agreement.h"
#include "ringside/experiments/worker/resource_usage.h"
#include "ringside/experiments/worker/run_factories.h"
#include "ringside/experiments/worker/server_report.h"
#include "ringside/experiments/worker/worker.h"

namespace ringside {
namespace {

// How long one call of Get waits. The heartbeat watches the coordinator during that time.
constexpr std::chrono::hours kForever{24};

std::string NextNotice(MemberProcess& process, int number) {
  while (true) {
    const Deadline deadline = Deadline::After(kForever);
    try {
      return process.client().Get(JobState::NoticeKey(number), deadline);
    } catch (const CommError&) {
      if (!deadline.expired()) throw;
    }
  }
}

/// Drops lost workers, until the job has finished.
void ObeyNotices(MemberProcess& process, Server& server) {
  for (int number = 0;; ++number) {
    const std::string notice = NextNotice(process, number);
    if (notice == JobState::kFinishedNotice) return;
    server.DropWorker(std::stoi(notice));
    process.client().Set(JobState::ObeyedKey(number, process.setup().who.index), "yes");
  }
}

/// Nothing is told any more of a server that ends.
struct Silence {
  MemberProcess& process;
  ~Silence() { process.Tell({}); }
};

MemberResult Serve(MemberProcess& process) {
  const MemberSetup& setup = process.setup();
  FaultPoint({.point = fault_points::kServerStarts,
              .member = setup.who.index,
              .generation = setup.generation});
  const std::int64_t total_steps = WaitForTotalSteps(process.client(), setup.world.workers,
                                                     Deadline::After(StartTimeout(setup.spec)));
  AgreedUpdate update{setup.spec.optimizer, setup.spec.learning_rate};
  if (!setup.spec.program.empty()) {
    update = WaitForUpdate(process.client(), Deadline::After(StartTimeout(setup.spec)));
  }
  ScheduleOptions schedule_options = MakeSchedule(setup.spec, total_steps);
  schedule_options.base = update.learning_rate;
  const Schedule schedule(schedule_options);
  const CommOptions comm = MakeCommOptions(
      setup, WaitForLargestMessage(process.client(), Deadline::After(StartTimeout(setup.spec))));
  const auto server = MakeServer(
      EntryOf(setup.spec), {setup.who.index, setup.world.servers, setup.world.workers,
                            process.client(), comm, update.optimizer, schedule, process.timeline(),
                            setup.spec.options, setup.drops_lost_workers});
  process.Tell([&server] { return server->Doing(); });
  const Silence silence{process};
  ObeyNotices(process, *server);
  nlohmann::json report = ServerReportJson(server->Stop());
  report["cpu_seconds"] = CpuSeconds();
  report["peak_rss_bytes"] = PeakRssBytes();
  return {report.dump()};
}

}  // namespace

int RunServer(const std::vector<std::string>& args, const Catalog& catalog) {
  return MemberProcess::Run(args, catalog, Serve);
}

}  // namespace ringside

#include "experiments/job/run_job.h"

#include <unistd.h>

#include "common/errors.h"
#include "experiments/job/emulated_hosts.h"
#include "experiments/job/emulated_network.h"
#include "experiments/job/job_host.h"
#include "experiments/job/member_setup.h"
#include "experiments/job/network_address.h"
#include "experiments/job/token.h"
#include "experiments/lab/lab_tools.h"
#include "experiments/server_layout.h"
#include "experiments/strategy_table.h"

namespace ringside {
namespace {

MemberSetup MakeSetup(const RunSpec& spec, const JobOptions& options, const Member& who) {
  const ServerLayout layout = LayoutServers(spec);
  MemberSetup setup;
  setup.who = who;
  setup.world = {.rank = who.index,
                 .workers = spec.workers,
                 .servers = layout.total(),
                 .colocated_servers = layout.colocated,
                 .local_rank = who.index,
                 .local_workers = spec.workers,
                 .host = HostName(options.address)};
  DealToHosts(setup.world, spec.hosts);
  setup.address = options.address;
  setup.parent_pid = ::getpid();
  setup.bundle_dir = options.bundle_dir;
  setup.spec = spec;
  setup.bench = options.bench;
  return setup;
}

/// A signal came while the network was being built.
class InterruptedBefore : public Error {
 public:
  InterruptedBefore() : Error("interrupted") {}
};

std::unique_ptr<EmulatedNetwork> MakeNetwork(const RunSpec& spec, const JobOptions& options,
                                             SignalWatch& signals) {
  if (!spec.network) return nullptr;
  if (options.address_given) {
    throw ConfigError("an emulated network gives every process its address; leave address away");
  }
  NetworkPlan plan =
      PlanNetwork(*spec.network, spec.workers, LayoutServers(spec).dedicated, spec.hosts);
  RequireLab(plan.spec);
  return std::make_unique<EmulatedNetwork>(std::move(plan), CurrentEnvironment(), [&] {
    if (signals.Take() > 0) throw InterruptedBefore();
  });
}

/// On its emulated host.
void MoveToHost(const EmulatedNetwork& network, MemberSetup& setup) {
  setup.address = network.AddressOf(setup.who);
  setup.world.host = setup.address;
}

HostPlan PlanHere(const RunSpec& spec, const JobOptions& options) {
  HostPlan plan;
  plan.coordinator = {.address = options.address, .port = 0, .token = MakeToken()};
  try {
    plan.network = MakeNetwork(spec, options, *plan.signals);
  } catch (const InterruptedBefore&) {
    plan.interrupted = true;
    return plan;
  }
  const StrategyEntry* entry = FindStrategy(spec.strategy);
  if (entry != nullptr && entry->ranks == Ranks::kMpiProcesses) {
    plan.agents = spec.workers;
    plan.mpirun = MakeSetup(spec, options, {Role::kWorker, 0});
    return plan;
  }
  for (int index = 0; index < LayoutServers(spec).dedicated; ++index) {
    plan.local.push_back(MakeSetup(spec, options, {Role::kServer, index}));
  }
  for (int rank = 0; rank < spec.workers; ++rank) {
    plan.local.push_back(MakeSetup(spec, options, {Role::kWorker, rank}));
  }
  if (plan.network != nullptr) {
    plan.coordinator.socket_path = plan.network->socket_path();
    for (MemberSetup& setup : plan.local) MoveToHost(*plan.network, setup);
  }
  return plan;
}

}  // namespace

const char* JobStatusName(JobStatus status) {
  switch (status) {
    case JobStatus::kDone:
      return "done";
    case JobStatus::kFailed:
      return "failed";
    case JobStatus::kDiverged:
      return "diverged";
    case JobStatus::kInterrupted:
      return "interrupted";
    case JobStatus::kTimedOut:
      return "timed out";
  }
  return "unknown";
}

void RunOrigin::AddTo(nlohmann::json& summary) const {
  summary["rerun_of"] = rerun_of.empty() ? nlohmann::json() : nlohmann::json(rerun_of);
  summary["attempt"] = earlier.size() + 1;
  summary["earlier_attempts"] = earlier;
}

bool IsWorthRetrying(const JobOutcome& outcome) {
  return outcome.status == JobStatus::kFailed &&
         (outcome.failure == FailureKind::kSignal || outcome.failure == FailureKind::kComm);
}

JobOutcome RunJob(const RunSpec& spec, const JobOptions& options) {
  RefuseOpenNetwork(options.address, options.insecure_network);
  return JobHost(spec, options, PlanHere(spec, options), CurrentEnvironment()).Run();
}

}  // namespace ringside

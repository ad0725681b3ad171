#include "ringside/experiments/job/launcher/run_job.h"

#include <memory>
#include <string>

#include "ringside/common/base/dilated_clock.h"
#include "ringside/common/base/errors.h"
#include "ringside/common/security/secrets.h"
#include "ringside/experiments/job/launcher/cluster_run.h"
#include "ringside/experiments/job/launcher/emulated_network.h"
#include "ringside/experiments/job/launcher/job_controller.h"
#include "ringside/experiments/job/launcher/make_member_setup.h"
#include "ringside/experiments/job/launcher/network_protection.h"
#include "ringside/experiments/job/launcher/recovery.h"
#include "ringside/experiments/job/processes/rendezvous_file.h"
#include "ringside/experiments/lab/emulation_support.h"
#include "ringside/experiments/spec/run_dilation.h"
#include "ringside/experiments/spec/server_layout.h"
#include "ringside/experiments/system/environment/usable_cores.h"

namespace ringside {
namespace {

/// Thrown when a signal comes while the network is being built.
class InterruptedBefore : public Error {
 public:
  InterruptedBefore() : Error("interrupted") {}
};

std::unique_ptr<EmulatedNetwork> MakeNetwork(const RunSpec& spec, const JobOptions& options,
                                             SignalWatch& signals) {
  if (!spec.network) return nullptr;
  if (options.address_given) {
    throw ConfigError("an emulated network gives every process its address; omit address");
  }
  if (std::string reason = WhyNoLab(*spec.network); !reason.empty()) {
    throw MissingKeyError("network", "network: " + reason);
  }
  return std::make_unique<EmulatedNetwork>(
      PlanNetwork(*spec.network, spec.workers, LayoutServers(spec).dedicated, spec.hosts),
      DilatedClock::Factor(), CurrentEnvironment(), [&] {
        if (signals.Take() > 0) throw InterruptedBefore();
      });
}

/// Moves a member to its emulated host.
void MoveToHost(const EmulatedNetwork& network, MemberSetup& setup) {
  setup.address = network.AddressOf(setup.who);
  setup.world.host = setup.address;
}

JobControllerPlan PlanHere(const RunSpec& spec, const JobOptions& options) {
  JobControllerPlan plan;
  plan.coordinator = {
      .address = options.address, .port = 0, .token = MakeToken(), .tls = options.tls};
  plan.join_timeout = JoinTimeout(spec, options.launcher);
  plan.starter = PlanAgents(spec, options, CurrentEnvironment());
  if (plan.starter) {
    plan.agents = plan.starter->placement.processes();
    plan.launcher = LauncherProgramName(plan.starter->program);
    if (!plan.starter->token_file.empty()) {
      plan.coordinator.token = ReadTokenFile(plan.starter->token_file);
    }
    return plan;
  }
  try {
    plan.network = MakeNetwork(spec, options, *plan.signals);
  } catch (const InterruptedBefore&) {
    plan.interrupted = true;
    return plan;
  }
  const auto setup_of = [&](const Member& who) {
    return MakeMemberSetup(spec, options, who, options.address, {who.index, spec.workers});
  };
  for (int index = 0; index < LayoutServers(spec).dedicated; ++index) {
    plan.local.push_back(setup_of({Role::kServer, index}));
  }
  for (int rank = 0; rank < spec.workers; ++rank) {
    plan.local.push_back(setup_of({Role::kWorker, rank}));
  }
  if (plan.network != nullptr) {
    plan.coordinator.socket_path = plan.network->socket_path();
    for (MemberSetup& setup : plan.local) MoveToHost(*plan.network, setup);
  }
  return plan;
}

JobOutcome RunGeneration(const RunSpec& spec, const JobOptions& options) {
  const DilationScope dilation(DilationOf(spec, UsableCores()));
  return JobController(spec, options, PlanHere(spec, options), CurrentEnvironment()).Run();
}

}  // namespace

JobOutcome RunJob(const RunSpec& spec, const JobOptions& options) {
  const JobOptions reachable = WithReachableAddress(spec, options, CurrentEnvironment());
  RequireProtectedNetwork(spec, reachable, reachable.address);
  if (options.recovery.on_failure == OnFailure::kStop) return RunGeneration(spec, reachable);
  return RunWithRecovery(spec, reachable, RunGeneration);
}

}  // namespace ringside

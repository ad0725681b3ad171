#include "ringside/experiments/job/launcher/run_job.h"

#include <algorithm>
#include <ranges>
#include <span>

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

const char* OnFailureName(OnFailure on_failure) {
  switch (on_failure) {
    case OnFailure::kStop:
      return "stop";
    case OnFailure::kRestart:
      return "restart";
    case OnFailure::kShrink:
      return "shrink";
  }
  return "unknown";
}

OnFailure ParseOnFailure(const std::string& name) {
  for (const OnFailure known : {OnFailure::kStop, OnFailure::kRestart, OnFailure::kShrink}) {
    if (name == OnFailureName(known)) return known;
  }
  throw ConfigError("'" + name + "' is not one of stop, restart, shrink");
}

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

namespace {

/// What each worker does again that had reported `done` steps, where the next generation begins
/// with step `first`.
std::int64_t Repeated(std::span<const std::int64_t> done, std::int64_t first) {
  std::int64_t repeated = 0;
  for (const std::int64_t steps : done) repeated += std::max<std::int64_t>(steps - first, 0);
  return repeated;
}

nlohmann::json GenerationJson(const FailedGeneration& generation,
                              const std::optional<std::int64_t>& next_first) {
  const std::span<const std::int64_t> done(generation.steps.done);
  const std::span<const std::int64_t> of_worker_0 =
      done.first(std::min<std::size_t>(1, done.size()));
  nlohmann::json json{
      {"workers", generation.workers}, {"steps_done", done.empty() ? 0 : done.front()},
      {"steps_repeated", nullptr},     {"updates_repeated", nullptr},
      {"seconds", generation.seconds}, {"error", generation.error},
      {"failure", generation.failure}, {"last_words", generation.last_words}};
  if (!next_first) return json;
  json["steps_repeated"] = Repeated(of_worker_0, *next_first);
  if (generation.updates_alone) json["updates_repeated"] = Repeated(done, *next_first);
  return json;
}

}  // namespace

void RunOrigin::AddTo(nlohmann::json& summary, std::optional<std::int64_t> first_step) const {
  summary["rerun_of"] = rerun_of.empty() ? nlohmann::json() : nlohmann::json(rerun_of);
  summary["attempt"] = earlier.size() + 1;
  summary["earlier_attempts"] = earlier;
  summary["restarts"] = generations.size();
  // A generation that reported no step began where the one after it did.
  std::vector<nlohmann::json> failed;
  for (const FailedGeneration& generation : std::views::reverse(generations)) {
    failed.push_back(GenerationJson(generation, first_step));
    if (generation.steps.first) first_step = generation.steps.first;
  }
  std::ranges::reverse(failed);
  summary["failed_generations"] = failed;
  if (asked) summary["run_id"] = RunId(*asked);
}

nlohmann::json FailureRecord(FailureKind kind, const std::string& member, double seconds) {
  return {{"kind", FailureKindName(kind)},
          {"member", member.empty() ? nlohmann::json() : nlohmann::json(member)},
          {"seconds", seconds}};
}

bool IsRetryable(const JobOutcome& outcome) {
  return !outcome.stop_requested && outcome.status == JobStatus::kFailed &&
         (outcome.failure == FailureKind::kSignal || outcome.failure == FailureKind::kComm);
}

bool IsRecoverable(const JobOutcome& outcome) {
  if (outcome.stop_requested || outcome.status != JobStatus::kFailed || !outcome.failure) {
    return false;
  }
  switch (*outcome.failure) {
    case FailureKind::kOutOfMemory:
    case FailureKind::kSignal:
    case FailureKind::kEarlyExit:
    case FailureKind::kLost:
    case FailureKind::kReplicasDiffer:  // no checkpoint has parameters that differ
    case FailureKind::kResources:
    case FailureKind::kComm:
      return true;
    case FailureKind::kDiverged:
    case FailureKind::kProgram:
    case FailureKind::kData:
    case FailureKind::kConfig:
    case FailureKind::kMissingBackend:
    case FailureKind::kInternal:
      return false;
  }
  return false;
}

JobOutcome RunJob(const RunSpec& spec, const JobOptions& options) {
  const JobOptions reachable = WithReachableAddress(spec, options, CurrentEnvironment());
  RequireProtectedNetwork(spec, reachable, reachable.address);
  if (options.recovery.on_failure == OnFailure::kStop) return RunGeneration(spec, reachable);
  return RunWithRecovery(spec, reachable, RunGeneration);
}

}  // namespace ringside

#include "ringside/experiments/job/launcher/externally_launched_rank.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <optional>

#include "ringside/common/base/deadline.h"
#include "ringside/common/base/errors.h"
#include "ringside/common/security/secrets.h"
#include "ringside/experiments/job/agents/rank_agent.h"
#include "ringside/experiments/job/coordinator/coordinator_client.h"
#include "ringside/experiments/job/launcher/cluster_run.h"
#include "ringside/experiments/job/launcher/job_controller.h"
#include "ringside/experiments/job/launcher/make_member_setup.h"
#include "ringside/experiments/job/launcher/network_protection.h"
#include "ringside/experiments/job/processes/rendezvous_file.h"
#include "ringside/experiments/spec/catalog.h"
#include "ringside/experiments/spec/server_layout.h"
#include "ringside/experiments/system/network/network_address.h"

namespace ringside {
namespace {

constexpr std::chrono::seconds kRendezvousTimeout{60};
/// How long a rank that is wrong tries to tell rank 0. If all are wrong, there is no rank 0.
constexpr std::chrono::seconds kTellTimeout{1};

std::optional<std::string> Variable(const Environment& environment, const char* name) {
  const auto found = environment.find(std::string_view(name));
  if (found == environment.end() || found->second.empty()) return std::nullopt;
  return found->second;
}

/// All facts about one rank that follow from the variables.
class ExternallyLaunchedRank {
 public:
  ExternallyLaunchedRank(const RunSpec& spec, const JobOptions& options,
                         const RankEnvironment& ranks, const Environment& environment)
      : spec_(spec), options_(options), ranks_(ranks), environment_(environment) {
    // Where this is refused, rank 0 must not be told either: that would send the token.
    address_ = OwnAddress();
    RequireProtectedNetwork(spec, options, address_);
    if (const auto path = Variable(environment, "RINGSIDE_TOKEN_FILE")) {
      token_ = TokenIn(*path);
      if (ranks.master_address.empty() || ranks.master_port == 0) {
        throw ConfigError("RINGSIDE_TOKEN_FILE needs MASTER_ADDR and MASTER_PORT: where rank 0 is");
      }
      // The token goes there, whatever the own address is.
      if (!hosts()) RequireProtectedNetwork(spec, options, MasterAddress());
    }
  }

  /// Throws `ConfigError` if this rank cannot take part as it was started.
  void Check() const {
    if (spec_.network) {
      throw ConfigError(
          fmt::format("network: {} has started the ranks, on hosts of its own; start "
                      "ringside without it to emulate hosts",
                      ranks_.source));
    }
    CheckWorkers();
    CheckServer();
  }

  /// Tells rank 0, if it can be found soon, that this rank does not come. Otherwise rank 0 would
  /// wait for it until its patience ends.
  void TellHost(const std::string& reason) const {
    try {
      const RendezvousInfo rendezvous = Rendezvous(Deadline::After(kTellTimeout));
      CoordinatorClient client(
          {.target = rendezvous.target, .token = rendezvous.token, .tls = options_.tls});
      client.Join({.who = AgentOf(Self()),
                   .pid = ::getpid(),
                   .host = HostName(address_),
                   .spec_hash = SpecHash(spec_)},
                  Deadline::After(kTellTimeout));
      client.Fail({FailureKind::kConfig, reason});
    } catch (const Error&) {  // NOLINT(bugprone-empty-catch)
      // Rank 0 is not there; or it has another spec, has refused this rank, and so knows it.
    }
  }

  bool hosts() const { return ranks_.hosts(); }

  JobOutcome Host() const {
    JobControllerPlan plan;
    plan.agents = ranks_.workers - 1 + (ranks_.starts_servers ? DedicatedServers() : 0);
    plan.launcher = ranks_.source;
    plan.join_timeout =
        options_.launcher.start_timeout.value_or(std::max<std::chrono::milliseconds>(
            kRendezvousTimeout, JoinTimeout(spec_, options_.launcher)));
    plan.coordinator = {.address = address_,
                        .port = token_ ? ranks_.master_port : 0,
                        .token = token_ ? *token_ : MakeToken(),
                        .tls = options_.tls};
    plan.local = LocalMembers();
    const std::string token = plan.coordinator.token;
    JobController host(spec_, options_, std::move(plan), environment_);
    std::optional<RendezvousFile> file;
    if (!token_) file.emplace(environment_, ranks_.job_key, RendezvousInfo{host.target(), token});
    return host.Run();
  }

  JobOutcome RunAsMember() const {
    const RendezvousInfo rendezvous = Rendezvous(Deadline::After(kRendezvousTimeout));
    MemberSetup setup = MakeSetup(Self());
    setup.coordinator = rendezvous.target;
    setup.token = rendezvous.token;
    return RankAgent(std::move(setup), options_).Run();
  }

 private:
  void CheckWorkers() const {
    if (spec_.workers != ranks_.workers) {
      throw ConfigError(fmt::format("the spec has {} workers, but {} started {} ranks",
                                    spec_.workers, ranks_.source, ranks_.workers));
    }
    const StrategyEntry* entry = spec_.catalog().FindStrategy(spec_.strategy);
    if (entry != nullptr && entry->traits.ranks == Ranks::kMpiProcesses &&
        !Variable(environment_, "PMIX_RANK")) {
      throw ConfigError(
          fmt::format("the ranks of strategy '{}' must be started by mpirun, not by {}: MPI would "
                      "treat each as a job with one rank",
                      spec_.strategy, ranks_.source));
    }
    if (ranks_.master_address.empty() && ranks_.local_workers != ranks_.workers) {
      throw ConfigError(
          fmt::format("{} started {} of {} ranks on this machine: for several machines set "
                      "MASTER_ADDR, MASTER_PORT and RINGSIDE_TOKEN_FILE",
                      ranks_.source, ranks_.local_workers, ranks_.workers));
    }
  }

  void CheckServer() const {
    if (ranks_.part != RankEnvironment::ProcessRole::kServer || ranks_.rank < DedicatedServers())
      return;
    throw ConfigError(
        fmt::format("this process is to be server {}, but the job has {} dedicated "
                    "servers",
                    ranks_.rank, DedicatedServers()));
  }

  int DedicatedServers() const { return LayoutServers(spec_).dedicated; }

  Member Self() const {
    const bool server = ranks_.part == RankEnvironment::ProcessRole::kServer;
    return {server ? Role::kServer : Role::kWorker, ranks_.rank};
  }

  /// The host is named, because the file may be missing on one of many.
  std::string TokenIn(const std::string& path) const {
    try {
      return ReadTokenFile(path);
    } catch (const ConfigError& error) {
      throw ConfigError(
          fmt::format("rank {} on {}: {}", ranks_.rank, HostName("127.0.0.1"), error.what()));
    }
  }

  /// Looked up once. Another answer to the same question might lead the token elsewhere than what
  /// was checked.
  const std::string& MasterAddress() const {
    if (master_address_.empty()) master_address_ = ResolveHost(ranks_.master_address);
    return master_address_;
  }

  std::string OwnAddress() const {
    if (options_.address_given || ranks_.master_address.empty()) return options_.address;
    const std::string& master = MasterAddress();
    if (IsLoopback(master)) return options_.address;
    return ranks_.hosts() ? master : SourceAddressTowards(master);
  }

  RendezvousInfo Rendezvous(const Deadline& deadline) const {
    if (!token_) return RendezvousFile::Wait(environment_, ranks_.job_key, deadline);
    const std::string& master = MasterAddress();
    const bool ipv6 = master.find(':') != std::string::npos;
    return {fmt::format("{}{}{}:{}", ipv6 ? "[" : "", master, ipv6 ? "]" : "", ranks_.master_port),
            *token_};
  }

  MemberSetup MakeSetup(const Member& who) const {
    return MakeMemberSetup(spec_, options_, who, address_,
                           {ranks_.local_rank, ranks_.local_workers});
  }

  /// The members that rank 0 starts: its worker, and the dedicated servers without agents.
  std::vector<MemberSetup> LocalMembers() const {
    std::vector<MemberSetup> members;
    const int servers = ranks_.starts_servers ? 0 : DedicatedServers();
    for (int index = 0; index < servers; ++index) {
      members.push_back(MakeSetup({Role::kServer, index}));
    }
    members.push_back(MakeSetup({Role::kWorker, 0}));
    return members;
  }

  const RunSpec& spec_;
  const JobOptions& options_;
  const RankEnvironment& ranks_;
  const Environment& environment_;
  std::string address_;
  mutable std::string master_address_;  // empty until it is asked for
  std::optional<std::string> token_;    // from RINGSIDE_TOKEN_FILE
};

}  // namespace

JobOutcome RunExternallyLaunchedRank(const RunSpec& spec, const JobOptions& options,
                                     const RankEnvironment& ranks, const Environment& environment) {
  const ExternallyLaunchedRank rank(spec, options, ranks, environment);
  try {
    rank.Check();
  } catch (const ConfigError& error) {
    if (!rank.hosts()) rank.TellHost(error.what());
    throw;
  }
  return rank.hosts() ? rank.Host() : rank.RunAsMember();
}

}  // namespace ringside

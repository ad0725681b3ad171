#include "ringside/experiments/job/agents/run_agent.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "ringside/common/base/deadline.h"
#include "ringside/common/base/errors.h"
#include "ringside/experiments/job/agents/rank_agent.h"
#include "ringside/experiments/job/agents/rank_starter.h"
#include "ringside/experiments/job/coordinator/coordinator_client.h"
#include "ringside/experiments/job/placement/emulated_hosts.h"
#include "ringside/experiments/job/processes/rendezvous_file.h"
#include "ringside/experiments/spec/bundle.h"
#include "ringside/experiments/system/files/files.h"
#include "ringside/experiments/system/network/network_address.h"

namespace ringside {
namespace {

constexpr std::chrono::seconds kAskTimeout{60};
constexpr const char* kStandardInput = "-";
constexpr std::size_t kMaxTokenBytes = 4096;

std::string ReadToken(const std::string& path) {
  if (path != kStandardInput) return ReadTokenFile(path);
  const std::string token = ReadDescriptor(STDIN_FILENO, kMaxTokenBytes, "standard input");
  if (token.empty()) throw ConfigError("no token came through standard input");
  return token;
}

/// Names the host, because the file may be missing on one of many.
std::string ReadTokenHere(const std::string& path, int process) {
  try {
    return ReadToken(path);
  } catch (const Error& error) {
    throw ConfigError(
        fmt::format("process {} on {}: {}", process, HostName("127.0.0.1"), error.what()));
  }
}

/// The host of "10.0.0.1:29500" or "[::1]:29500".
std::string HostOf(const std::string& target) {
  const std::string host = target.substr(0, target.rfind(':'));
  return host.starts_with('[') ? host.substr(1, host.size() - 2) : host;
}

/// Worker 0 writes checkpoints and parameters into the bundle, and the host of the job reads them.
void RequireSharedBundle(const MemberSetup& setup) {
  const bool writes = setup.spec.checkpoint_every > 0 || setup.spec.save_params;
  if (setup.who != Member{Role::kWorker, 0} || !writes) return;
  if (std::filesystem::exists(setup.bundle_dir + "/" + kSpecFile)) return;
  throw ConfigError(fmt::format(
      "worker 0 on {} does not see the run's directory {}: checkpoints and parameters need --out "
      "in a directory that the hosts share",
      HostName("127.0.0.1"), setup.bundle_dir));
}

/// What the process that the launcher numbers `process` is told.
MemberSetup SetupOf(int process, const nlohmann::json& json, const Placement& placement,
                    const AgentArguments& arguments, const std::string& token,
                    const Catalog& catalog) {
  if (process >= placement.processes()) {
    throw ConfigError(fmt::format("the launcher started process {}, but the run has {}", process,
                                  placement.processes()));
  }
  MemberSetup setup = MemberSetup::FromJson(json.at("setup").get<std::string>(), catalog);
  setup.coordinator = arguments.coordinator;
  setup.token = token;
  setup.who = placement.MemberOf(process);
  setup.world.rank = setup.who.index;
  if (setup.who.role == Role::kWorker) {
    const LocalPlace place = placement.PlaceOf(setup.who);
    setup.world.local_rank = place.rank;
    setup.world.local_workers = place.workers;
  }
  const std::string host = HostOf(arguments.coordinator);
  if (!IsLoopback(host)) setup.address = SourceAddressTowards(host);
  setup.world.host = HostName(setup.address);
  AssignWorkersToHosts(setup.world, setup.spec.hosts);
  setup.parent_pid = ::getpid();
  RequireSharedBundle(setup);
  return setup;
}

/// Links are measured between several hosts, unless the user has said what they carry.
std::optional<LinkProbe> ProbeOf(int process, const Placement& placement,
                                 const MemberSetup& setup) {
  if (placement.hosts.size() < 2 || setup.spec.link_bits_per_s > 0) return std::nullopt;
  const std::string& host = placement.HostOf(process);
  bool first = true;
  for (int earlier = 0; earlier < process; ++earlier) {
    if (placement.HostOf(earlier) == host) first = false;
  }
  const auto index = std::ranges::find(placement.hosts, host) - placement.hosts.begin();
  return LinkProbe{.host = static_cast<int>(index),
                   .hosts = placement.hosts,
                   .measures = first,
                   .address = setup.address,
                   .token = setup.token};
}

}  // namespace

std::vector<std::string> AgentArguments::ToArguments() const {
  std::vector<std::string> arguments{"--coordinator", coordinator, "--token-file", token_file};
  if (!tls.empty()) arguments.insert(arguments.end(), {"--tls", tls});
  if (quiet) arguments.emplace_back("--quiet");
  return arguments;
}

AgentArguments AgentArguments::Parse(const std::vector<std::string>& arguments) {
  AgentArguments parsed;
  for (auto argument = arguments.begin(); argument != arguments.end(); ++argument) {
    if (*argument == "--quiet") {
      parsed.quiet = true;
      continue;
    }
    const bool known =
        *argument == "--coordinator" || *argument == "--token-file" || *argument == "--tls";
    if (!known || argument + 1 == arguments.end()) break;
    std::string& value = *argument == "--coordinator"  ? parsed.coordinator
                         : *argument == "--token-file" ? parsed.token_file
                                                       : parsed.tls;
    value = *++argument;
  }
  if (parsed.coordinator.empty() || parsed.token_file.empty()) {
    throw UsageError("this verb is for the launcher alone: use 'ringside train'");
  }
  return parsed;
}

int RunAgent(const std::vector<std::string>& args, const Catalog& catalog) {
  const AgentArguments arguments = AgentArguments::Parse(args);
  const auto ranks = DetectRankEnvironment(CurrentEnvironment());
  if (!ranks) throw UsageError("no launcher has set a rank: use 'ringside train'");
  const std::string token = ReadTokenHere(arguments.token_file, ranks->rank);
  const std::string text =
      CoordinatorClient({.target = arguments.coordinator, .token = token, .tls = arguments.tls})
          .AskFor(kAgentSetupKey, Deadline::After(kAskTimeout));
  const auto json = nlohmann::json::parse(text);
  const auto placement = json.at("placement").get<Placement>();
  MemberSetup setup = SetupOf(ranks->rank, json, placement, arguments, token, catalog);
  const JobOptions options{.bundle_dir = setup.bundle_dir, .echo_logs = !arguments.quiet};
  RankAgent::Launched launched{
      .links = ProbeOf(ranks->rank, placement, setup),
      .measure_timeout = std::chrono::milliseconds(json.at("start_timeout_ms").get<int>())};
  RankAgent(std::move(setup), options, std::move(launched)).Run();
  return 0;
}

}  // namespace ringside

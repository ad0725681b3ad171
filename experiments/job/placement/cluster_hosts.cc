#include "ringside/experiments/job/placement/cluster_hosts.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <sstream>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/system/environment/slurm_tasks.h"
#include "ringside/experiments/system/files/files.h"
#include "ringside/experiments/system/files/find_program.h"
#include "ringside/experiments/system/processes/command_output.h"
#include "ringside/experiments/text/units.h"

namespace ringside {
namespace {

constexpr std::size_t kMaxHostfileBytes = 1 << 20;
constexpr int kMaxSlots = 4096;
constexpr std::chrono::seconds kScontrolTimeout{5};

/// A line of a hostfile, for messages: "hosts.txt:3: ...".
class HostLine {
 public:
  explicit HostLine(std::string origin) : origin_(std::move(origin)) {}

  ClusterHost Read(const std::string& line) const {
    std::istringstream words(line);
    ClusterHost host{.origin = origin_};
    words >> host.name;
    if (host.name.find_first_of("=:,") != std::string::npos || host.name.starts_with('-')) {
      Refuse(fmt::format("'{}' is not the name of a host; expected NAME [slots=N] [servers=M]",
                         host.name));
    }
    std::optional<int> slots;
    for (std::string word; words >> word;) {
      const std::size_t equals = word.find('=');
      const std::string key = word.substr(0, equals);
      if (key == "slots" && equals != std::string::npos) {
        slots = Count(word, equals);
      } else if (key == "servers" && equals != std::string::npos) {
        host.servers = Count(word, equals);
      } else {
        Refuse(fmt::format("'{}' is neither slots=N nor servers=M", word));
      }
    }
    const int servers = host.servers.value_or(0);
    host.slots = slots.value_or(std::max(1, servers));
    if (servers > host.slots) {
      Refuse(fmt::format("{} servers do not fit into {} slots; slots count workers and servers",
                         servers, host.slots));
    }
    return host;
  }

 private:
  int Count(const std::string& word, std::size_t equals) const {
    try {
      const std::int64_t count = ParseInteger(std::string_view(word).substr(equals + 1));
      if (count >= 0 && count <= kMaxSlots) return static_cast<int>(count);
    } catch (const ConfigError&) {  // NOLINT(bugprone-empty-catch)
      // The message below says more.
    }
    Refuse(fmt::format("'{}': expected a number from 0 to {}", word, kMaxSlots));
  }

  [[noreturn]] void Refuse(const std::string& reason) const {
    throw ConfigError(origin_ + ": " + reason);
  }

  const std::string origin_;
};

void RefuseTwice(const std::vector<ClusterHost>& hosts) {
  for (auto host = hosts.begin(); host != hosts.end(); ++host) {
    const auto earlier = std::find_if(
        hosts.begin(), host, [&](const ClusterHost& other) { return other.name == host->name; });
    if (earlier == host) continue;
    throw ConfigError(fmt::format("{}: host '{}' is listed already, at {}", host->origin,
                                  host->name, earlier->origin));
  }
}

const std::string* Find(const Environment& environment, const char* name) {
  const auto found = environment.find(std::string_view(name));
  return found == environment.end() || found->second.empty() ? nullptr : &found->second;
}

}  // namespace

ClusterHosts ParseHostfile(std::string_view text, const std::string& origin) {
  ClusterHosts cluster{.origin = origin, .hosts = {}};
  std::istringstream lines{std::string(text)};
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    line = line.substr(0, line.find('#'));
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    cluster.hosts.push_back(HostLine(fmt::format("{}:{}", origin, number)).Read(line));
  }
  if (cluster.hosts.empty()) throw ConfigError(origin + ": no host is listed");
  RefuseTwice(cluster.hosts);
  return cluster;
}

ClusterHosts ReadHostfile(const std::string& path) {
  return ParseHostfile(ReadNamedFile(path, kMaxHostfileBytes), path);
}

std::optional<ClusterHosts> SlurmAllocation(const Environment& environment) {
  const std::string* job = Find(environment, "SLURM_JOB_ID");
  const std::string* nodes = Find(environment, "SLURM_JOB_NODELIST");
  if (job == nullptr || nodes == nullptr) return std::nullopt;
  ClusterHosts cluster{.origin = "Slurm job " + *job, .hosts = {}};
  const std::string scontrol = FindProgram("scontrol");
  if (scontrol.empty()) {
    throw MissingBackendError("scontrol, which lists the nodes of a Slurm job, is not in PATH");
  }
  std::istringstream names(
      OutputOf({scontrol, "show", "hostnames", *nodes}, Deadline::After(kScontrolTimeout)));
  for (std::string name; names >> name;) {
    cluster.hosts.push_back({.name = name, .origin = cluster.origin});
  }
  // Of the allocation; within a step the variable is that of the step's.
  const char* tasks_name = "SLURM_TASKS_PER_NODE";
  const std::string* tasks = Find(environment, tasks_name);
  const std::vector<int> counts =
      tasks == nullptr ? std::vector<int>() : ParseTasksPerNode(tasks_name, *tasks);
  if (tasks != nullptr && counts.size() != cluster.hosts.size()) {
    throw ConfigError(fmt::format("{}={} has {} nodes, but SLURM_JOB_NODELIST={} has {}",
                                  tasks_name, *tasks, counts.size(), *nodes, cluster.hosts.size()));
  }
  for (std::size_t i = 0; i < counts.size(); ++i) cluster.hosts[i].slots = counts[i];
  return cluster;
}

}  // namespace ringside

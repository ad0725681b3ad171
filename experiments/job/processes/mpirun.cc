#include "ringside/experiments/job/processes/mpirun.h"

#include <dlfcn.h>
#include <link.h>

namespace ringside {
namespace {

// A worker computes on one thread and calls MPI on another.
constexpr int kThreadsOfAWorker = 2;

/// Neighbours in the list that are on one host.
struct HostGroup {
  std::string host;
  int processes = 0;
};

std::vector<HostGroup> GroupNeighbours(const std::vector<std::string>& hosts) {
  std::vector<HostGroup> groups;
  for (const std::string& host : hosts) {
    if (groups.empty() || groups.back().host != host) groups.push_back({host, 0});
    ++groups.back().processes;
  }
  return groups;
}

/// mpirun numbers the processes in the order of these parts of its command line.
void AddGroups(const MpirunOptions& options, std::vector<std::string>& argv) {
  bool first = true;
  for (const HostGroup& group : GroupNeighbours(options.hosts)) {
    const std::string count = std::to_string(group.processes);
    if (!first) argv.emplace_back(":");
    first = false;
    argv.insert(argv.end(), {"-np", count, "--host", group.host + ":" + count});
    for (const std::string& name : options.variables) argv.insert(argv.end(), {"-x", name});
    argv.insert(argv.end(), options.command.begin(), options.command.end());
  }
}

}  // namespace

std::string LoopbackLibrary() {
  void* handle = ::dlopen("libringside_loopback.so", RTLD_LAZY | RTLD_LOCAL);
  if (handle == nullptr) return {};
  const link_map* map = nullptr;
  std::string path;
  if (::dlinfo(handle, RTLD_DI_LINKMAP, &map) == 0) path = map->l_name;
  ::dlclose(handle);
  return path;
}

std::vector<std::string> MpirunArguments(const MpirunOptions& options) {
  std::vector<std::string> argv{options.mpirun, "--quiet"};
  if (options.as_root) argv.emplace_back("--allow-run-as-root");
  argv.insert(argv.end(), {"--oversubscribe", "--bind-to", "none"});
  if (!options.scratch.empty()) {
    argv.insert(argv.end(), {"--mca", "orte_tmpdir_base", options.scratch});
    argv.insert(argv.end(), {"--mca", "btl_vader_backing_directory", options.scratch});
  }
  if (!options.hosts.empty()) {
    // Otherwise ssh gets "node-1" for "node-1.cluster.example", which need not be a name.
    argv.insert(argv.end(), {"--mca", "orte_keep_fqdn_hostnames", "1"});
    AddGroups(options, argv);
    return argv;
  }
  argv.insert(argv.end(), {"--mca", "btl", "self,vader"});
  if (kThreadsOfAWorker * options.workers > options.cores) {
    // Otherwise a waiting rank keeps a core from a computing one.
    argv.insert(argv.end(), {"--mca", "mpi_yield_when_idle", "1"});
  }
  if (options.preload) argv.insert(argv.end(), {"-x", "LD_PRELOAD=" + *options.preload});
  argv.insert(argv.end(), {"-np", std::to_string(options.workers)});
  argv.insert(argv.end(), options.command.begin(), options.command.end());
  return argv;
}

}  // namespace ringside

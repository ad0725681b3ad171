#include "ringside/experiments/system/environment/rank_environment.h"

#include <unistd.h>

#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/system/environment/slurm_tasks.h"

namespace ringside {
namespace {

constexpr const char* kSrun = "srun";

/// The variables of one launcher.
struct Source {
  const char* name;
  const char* rank;
  const char* workers;
  const char* local_rank;
  const char* local_workers;  // may be missing
  const char* job;            // may be missing
  // Of the job. Where a source names this variable, only steps have ranks: Slurm gives the script
  // of a batch job the variables of a rank, too, but not this one.
  const char* step = nullptr;
  // The numbers of tasks on all nodes, and which node this is. They come before `local_workers`.
  const char* tasks_of_nodes = nullptr;
  const char* node = nullptr;
};

constexpr std::array kSources{
    Source{"mpirun", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
           "OMPI_COMM_WORLD_LOCAL_SIZE", "PMIX_NAMESPACE"},
    Source{"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE",
           "TORCHELASTIC_RUN_ID"},
    Source{"pmi", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", "PMI_ID"},
    Source{kSrun, "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "SLURM_NTASKS_PER_NODE",
           "SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_STEP_TASKS_PER_NODE", "SLURM_NODEID"},
};

const std::string* Find(const Environment& environment, const char* name) {
  const auto found = environment.find(std::string_view(name));
  return found == environment.end() || found->second.empty() ? nullptr : &found->second;
}

int Number(const Environment& environment, const char* name, int fallback) {
  const std::string* text = Find(environment, name);
  if (text == nullptr) {
    if (fallback >= 0) return fallback;
    throw ConfigError(std::string(name) + " is not set, though other variables of the job are");
  }
  int value = -1;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc() || end != text->data() + text->size() || value < 0) {
    throw ConfigError(std::string(name) + "=" + *text + ": expected a number that is not negative");
  }
  return value;
}

/// The tasks on one node of a list such as "2(x3),1".
int TasksOfNode(const char* name, const std::string& list, int node) {
  const std::vector<int> tasks = ParseTasksPerNode(name, list);
  if (static_cast<std::size_t>(node) < tasks.size()) return tasks[static_cast<std::size_t>(node)];
  throw ConfigError(std::string(name) + "=" + list + ": there is no node " + std::to_string(node));
}

/// Whether a step of Slurm has ranks. The numbers from SLURM_MAX_NORMAL_STEP_ID of slurm.h on are
/// those of other processes, such as the shell that salloc starts on a node.
bool HasRanks(const std::string& step) {
  constexpr std::uint32_t kMostSteps = 0xfffffff0;
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(step.data(), step.data() + step.size(), number);
  const bool is_number = error == std::errc() && end == step.data() + step.size();
  return !is_number || number < kMostSteps;
}

/// Whether the variables say that this source has started this process.
bool HasStarted(const Source& source, const Environment& environment) {
  if (Find(environment, source.rank) == nullptr) return false;
  if (source.step == nullptr) return true;
  const std::string* step = Find(environment, source.step);
  return step != nullptr && HasRanks(*step);
}

/// The ranks that a launcher's variables give, and which variables these are.
struct Claim {
  const Source* source;
  RankEnvironment ranks;
};

void ReadPart(const Environment& environment, RankEnvironment& ranks) {
  const std::string* role = Find(environment, "RINGSIDE_ROLE");
  if (role == nullptr) return;
  ranks.starts_servers = true;
  if (*role == "worker") return;
  if (*role != "server") {
    throw ConfigError("RINGSIDE_ROLE=" + *role + ": expected worker or server");
  }
  ranks.part = RankEnvironment::ProcessRole::kServer;
}

int LocalWorkers(const Environment& environment, const Source& source, int workers) {
  if (source.tasks_of_nodes != nullptr) {
    if (const std::string* tasks = Find(environment, source.tasks_of_nodes)) {
      return TasksOfNode(source.tasks_of_nodes, *tasks, Number(environment, source.node, -1));
    }
  }
  return Number(environment, source.local_workers, workers);
}

Claim Read(const Environment& environment, const Source& source) {
  RankEnvironment ranks;
  ranks.source = source.name;
  ReadPart(environment, ranks);
  ranks.rank = Number(environment, source.rank, -1);
  ranks.workers = Number(environment, source.workers, -1);
  if (ranks.part == RankEnvironment::ProcessRole::kWorker && ranks.rank >= ranks.workers) {
    throw ConfigError(std::string(source.rank) + "=" + std::to_string(ranks.rank) + ", but " +
                      source.workers + "=" + std::to_string(ranks.workers));
  }
  // Without other information all ranks are on one machine.
  ranks.local_rank = Number(environment, source.local_rank, ranks.rank);
  ranks.local_workers = LocalWorkers(environment, source, ranks.workers);
  if (const std::string* job = Find(environment, source.job)) ranks.job_key = *job;
  if (source.step != nullptr && !ranks.job_key.empty()) {
    if (const std::string* step = Find(environment, source.step)) ranks.job_key += "." + *step;
  }
  return {&source, ranks};
}

bool Agrees(const RankEnvironment& left, const RankEnvironment& right) {
  return left.rank == right.rank && left.workers == right.workers;
}

void RefuseConflict(const char* left, int left_value, const char* right, int right_value) {
  if (left_value == right_value) return;
  throw ConfigError(std::string(left) + "=" + std::to_string(left_value) + " and " + right + "=" +
                    std::to_string(right_value) +
                    " disagree: this process seems to be started by two launchers; unset the "
                    "variables of one");
}

void AddMaster(const Environment& environment, RankEnvironment& ranks) {
  if (const std::string* address = Find(environment, "MASTER_ADDR")) {
    ranks.master_address = *address;
  }
  ranks.master_port = Number(environment, "MASTER_PORT", 0);
  if (ranks.master_port > 65535) {
    throw ConfigError("MASTER_PORT=" + std::to_string(ranks.master_port) + ": expected a port");
  }
  if (!ranks.master_address.empty() && ranks.master_port > 0) {
    ranks.job_key = ranks.master_address + ":" + std::to_string(ranks.master_port);
  }
  if (ranks.job_key.empty()) {
    throw ConfigError("a job of " + ranks.source +
                      " has no name here: set MASTER_ADDR and MASTER_PORT, equal in all its ranks");
  }
}

}  // namespace

Environment CurrentEnvironment() {
  Environment environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    environment.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return environment;
}

std::optional<RankEnvironment> DetectRankEnvironment(const Environment& environment) {
  std::vector<Claim> claims;
  for (const Source& source : kSources) {
    if (HasStarted(source, environment)) claims.push_back(Read(environment, source));
  }
  if (claims.empty()) return std::nullopt;
  RankEnvironment ranks = claims.front().ranks;
  // In a Slurm job mpirun starts its own daemons by srun; a torchrun may be one rank of srun.
  std::erase_if(claims, [&](const Claim& claim) {
    return claim.source->name == kSrun && !Agrees(claim.ranks, ranks);
  });
  for (const Claim& other : claims) {
    const Claim& first = claims.front();
    if (&other == &first) continue;
    RefuseConflict(first.source->rank, ranks.rank, other.source->rank, other.ranks.rank);
    RefuseConflict(first.source->workers, ranks.workers, other.source->workers,
                   other.ranks.workers);
    ranks.source += "+" + other.ranks.source;
    if (ranks.job_key.empty()) ranks.job_key = other.ranks.job_key;
  }
  AddMaster(environment, ranks);
  return ranks;
}

}  // namespace ringside

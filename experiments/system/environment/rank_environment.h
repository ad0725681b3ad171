#ifndef RINGSIDE_EXPERIMENTS_SYSTEM_ENVIRONMENT_RANK_ENVIRONMENT_H_
#define RINGSIDE_EXPERIMENTS_SYSTEM_ENVIRONMENT_RANK_ENVIRONMENT_H_

#include <functional>
#include <map>
#include <optional>
#include <string>

namespace ringside {

/// The variables of a process, by name.
using Environment = std::map<std::string, std::string, std::less<>>;

/// The variables of this process.
Environment CurrentEnvironment();

/// What a launcher (mpirun, srun, torchrun) says about this process: which rank or which parameter
/// server of a job it is.
struct RankEnvironment {
  enum class ProcessRole { kWorker, kServer };

  std::string
      source{};  ///< "mpirun", "torchrun", "pmi", "srun"; joined by '+' where several agree.
  /// RINGSIDE_ROLE. A launcher that sets it for every process starts the dedicated servers itself,
  /// on hosts of their own. If it is not set, rank 0 starts them.
  ProcessRole part = ProcessRole::kWorker;
  bool starts_servers = false;
  int rank = 0;  ///< Of a server: its index.
  int workers = 1;
  int local_rank = 0;
  int local_workers = 1;
  std::string master_address{};  ///< MASTER_ADDR; empty: all processes are on this machine.
  int master_port = 0;           ///< MASTER_PORT; 0: not set.
  std::string
      job_key;  ///< Names the rendezvous: equal in all processes of the job, and in no other job.

  /// Whether this process hosts the job's coordinator and writes the report.
  bool hosts() const { return part == ProcessRole::kWorker && rank == 0; }
};

/// Reads `OMPI_COMM_WORLD_*`, `RANK/WORLD_SIZE/LOCAL_RANK/MASTER_ADDR/MASTER_PORT`,
/// `PMI_RANK/PMI_SIZE`, `SLURM_PROCID/NTASKS/LOCALID/NODEID/STEP_ID/STEP_TASKS_PER_NODE` and
/// RINGSIDE_ROLE (worker or server). In a server, RANK is the server's index and WORLD_SIZE still
/// the number of workers. Slurm's variables do not count where another launcher inside of its step
/// has set others. Absent when no launcher has set its variables, and in the script of a batch job.
/// Pure. Throws `ConfigError` naming both variables when two sources disagree, and naming the
/// variable when it is missing or not a number.
std::optional<RankEnvironment> DetectRankEnvironment(const Environment& environment);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SYSTEM_ENVIRONMENT_RANK_ENVIRONMENT_H_

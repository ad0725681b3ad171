#ifndef RINGSIDE_EXPERIMENTS_JOB_RANK_ENVIRONMENT_H_
#define RINGSIDE_EXPERIMENTS_JOB_RANK_ENVIRONMENT_H_

#include <functional>
#include <map>
#include <optional>
#include <string>

namespace ringside {

/// The variables of a process, by name.
using Environment = std::map<std::string, std::string, std::less<>>;

/// Of this process.
Environment CurrentEnvironment();

/// What another launcher (mpirun, srun, torchrun) says of this process: it is one rank of a job, or
/// one of its parameter servers.
struct RankEnvironment {
  enum class Part { kWorker, kServer };

  std::string
      source{};  ///< "mpirun", "torchrun", "pmi", "srun"; joined by '+' where several agree.
  /// RINGSIDE_ROLE. A launcher that gives one to every process starts the dedicated servers itself,
  /// on hosts of their own; where it gives none, rank 0 starts them.
  Part part = Part::kWorker;
  bool starts_servers = false;
  int rank = 0;  ///< Of a server: its index.
  int workers = 1;
  int local_rank = 0;
  int local_workers = 1;
  std::string master_address{};  ///< MASTER_ADDR, empty: everything is on this machine.
  int master_port = 0;           ///< MASTER_PORT, 0: none given.
  std::string
      job_key;  ///< The same in all processes of the job and no other: names the rendezvous.

  /// Whether this process hosts the job's coordinator and reports.
  bool hosts() const { return part == Part::kWorker && rank == 0; }
};

/// Reads `OMPI_COMM_WORLD_*`, `RANK/WORLD_SIZE/LOCAL_RANK/MASTER_ADDR/MASTER_PORT`,
/// `PMI_RANK/PMI_SIZE` and `SLURM_PROCID/NTASKS/LOCALID`, and RINGSIDE_ROLE (worker or server, RANK
/// being the server's index and WORLD_SIZE the number of workers all the same). Empty when this
/// process was started by none of them. Pure. Throws `ConfigError` naming both variables when two
/// sources disagree, and naming the variable when one is missing or no number.
std::optional<RankEnvironment> DetectRankEnvironment(const Environment& environment);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_RANK_ENVIRONMENT_H_

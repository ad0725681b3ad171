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

/// What another launcher (mpirun, srun, torchrun) says of this process: it is one rank of a job.
struct RankEnvironment {
  std::string
      source{};  ///< "mpirun", "torchrun", "pmi", "srun"; joined by '+' where several agree.
  int rank = 0;
  int workers = 1;
  int local_rank = 0;
  int local_workers = 1;
  std::string master_address{};  ///< MASTER_ADDR, empty: everything is on this machine.
  int master_port = 0;           ///< MASTER_PORT, 0: none given.
  std::string
      job_key;  ///< The same in all processes of the job and no other: names the rendezvous.
};

/// Reads `OMPI_COMM_WORLD_*`, `RANK/WORLD_SIZE/LOCAL_RANK/MASTER_ADDR/MASTER_PORT`,
/// `PMI_RANK/PMI_SIZE` and `SLURM_PROCID/NTASKS/LOCALID`. Empty when this process was started by
/// none of them. Pure. Throws `ConfigError` naming both variables when two sources disagree, and
/// naming the variable when one is missing or no number.
std::optional<RankEnvironment> DetectRankEnvironment(const Environment& environment);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_RANK_ENVIRONMENT_H_

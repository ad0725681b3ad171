#ifndef RINGSIDE_EXPERIMENTS_MANIFEST_SBATCH_H_
#define RINGSIDE_EXPERIMENTS_MANIFEST_SBATCH_H_

#include <string>

#include "ringside/experiments/manifest/manifest_plan.h"

namespace ringside {

/// Throws `ConfigError` naming the flag whose value Slurm does not take.
void CheckSbatch(const ManifestPlan& plan);

/// A batch script of Slurm: a task for each process. `ringside train` runs in the script and starts
/// the processes by srun. Slurm warns it a minute before the time is over, so that it stops after a
/// step and keeps the results.
std::string SbatchText(const ManifestPlan& plan);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_MANIFEST_SBATCH_H_

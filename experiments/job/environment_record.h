#ifndef RINGSIDE_EXPERIMENTS_JOB_ENVIRONMENT_RECORD_H_
#define RINGSIDE_EXPERIMENTS_JOB_ENVIRONMENT_RECORD_H_

#include <nlohmann/json_fwd.hpp>

#include "experiments/job/rank_environment.h"

namespace ringside {

/// Where a run took place, for its bundle: processor, cores, kernel, memory, versions of this build
/// and of its libraries, and those variables of `environment` that change how a run behaves. Never
/// a secret: variables are chosen by name, from a list.
nlohmann::json EnvironmentRecord(const Environment& environment);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_ENVIRONMENT_RECORD_H_

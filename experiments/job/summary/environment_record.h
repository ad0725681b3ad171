#ifndef RINGSIDE_EXPERIMENTS_JOB_SUMMARY_ENVIRONMENT_RECORD_H_
#define RINGSIDE_EXPERIMENTS_JOB_SUMMARY_ENVIRONMENT_RECORD_H_

#include <nlohmann/json_fwd.hpp>

#include "ringside/experiments/system/environment/rank_environment.h"

namespace ringside {

/// The environment of a run, for its bundle: processor, cores, kernel, memory, versions of this
/// build and of its libraries, and the variables of `environment` that change how a run behaves.
/// It contains no secret, because variables are chosen by name from a list.
nlohmann::json EnvironmentRecord(const Environment& environment);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_SUMMARY_ENVIRONMENT_RECORD_H_

#ifndef RINGSIDE_EXPERIMENTS_MANIFEST_KUBERNETES_H_
#define RINGSIDE_EXPERIMENTS_MANIFEST_KUBERNETES_H_

#include <nlohmann/json.hpp>
#include <vector>

#include "ringside/experiments/manifest/manifest_plan.h"

namespace ringside {

/// The objects of Kubernetes that make up the run: a Secret with the token, a NetworkPolicy that
/// admits only the pods of the job, for a TrainJob its TrainingRuntime, and the job itself.
///
/// `ringside train` runs in the launcher's pod. The operator puts a list of the other pods into
/// /etc/mpi/hostfile there, and mpirun starts a process for each slot, workers first. The
/// launcher's pod runs no worker.
std::vector<nlohmann::ordered_json> KubernetesObjects(const ManifestPlan& plan);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_MANIFEST_KUBERNETES_H_

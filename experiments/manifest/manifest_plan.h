#ifndef RINGSIDE_EXPERIMENTS_MANIFEST_MANIFEST_PLAN_H_
#define RINGSIDE_EXPERIMENTS_MANIFEST_MANIFEST_PLAN_H_

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ringside {

/// What a file for a cluster's scheduler describes.
enum class ManifestKind {
  kSbatch,    ///< A batch script of Slurm.
  kMpiJobV1,  ///< MPIJob kubeflow.org/v1, of Kubeflow's training operator.
  kMpiJobV2,  ///< MPIJob kubeflow.org/v2beta1, of Kubeflow's MPI operator.
  kTrainJob,  ///< TrainJob trainer.kubeflow.org/v1alpha1, of Kubeflow Trainer.
};

/// "sbatch", "mpijob-v1", "mpijob-v2beta1", "trainjob".
const char* ManifestKindName(ManifestKind kind);
/// Throws `ConfigError` for another name.
ManifestKind ParseManifestKind(const std::string& name);

/// What the processes of one pod or task may use. Empty: what the cluster gives.
struct ManifestResources {
  std::string cpus{};    ///< For a process: "2".
  std::string memory{};  ///< For a process, as Kubernetes writes it: "4Gi".
  int gpus = 0;          ///< For a process.
};

/// One run, as a manifest describes it.
struct ManifestPlan {
  ManifestKind kind = ManifestKind::kSbatch;
  std::string name = "ringside";
  std::string name_space{};          ///< Of Kubernetes; empty: none is named.
  std::string image{};               ///< Of Kubernetes.
  std::string program = "ringside";  ///< The path of `ringside` on every host.
  std::vector<std::string>
      flags{};  ///< Of `ringside train`, those that say how it is started aside.
  std::vector<std::string> command{};  ///< The user's program that is the model; empty: none.
  int workers = 1;
  int servers = 0;  ///< Dedicated ones.
  int slots = 1;    ///< Processes in a pod.
  ManifestResources resources{};
  std::vector<std::pair<std::string, std::string>> environment{};
  std::string volume_claim{};            ///< Of Kubernetes: where results are kept. Empty: nowhere.
  std::string token{};                   ///< Of Kubernetes.
  int nodes = 0;                         ///< Of Slurm; 0: as many as Slurm likes.
  std::optional<double> time_limit_s{};  ///< Of Slurm.

  /// The number of processes that have a slot.
  int processes() const { return workers + servers; }
};

/// Throws `ConfigError` naming the flag: a name that Kubernetes does not take, no image, an amount
/// of memory that is none.
void CheckManifestPlan(const ManifestPlan& plan);

/// The manifest as text, ready for `kubectl apply -f -` or `sbatch`.
std::string ManifestText(const ManifestPlan& plan);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_MANIFEST_MANIFEST_PLAN_H_

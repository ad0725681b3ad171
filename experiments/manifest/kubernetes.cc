#include "ringside/experiments/manifest/kubernetes.h"

#include <fmt/format.h>

#include <string>

namespace ringside {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kHostfile = "/etc/mpi/hostfile";  // Both operators put it there.
constexpr const char* kTokenPath = "/etc/ringside/token";
constexpr const char* kTokenKey = "token";
constexpr const char* kResultsPath = "/results";
constexpr const char* kJobLabel = "app.kubernetes.io/instance";
// Pods of one job start at different times.
constexpr const char* kStartTimeout = "10min";

std::string SecretName(const ManifestPlan& plan) { return plan.name + "-token"; }

Json Metadata(const ManifestPlan& plan, const std::string& name) {
  Json metadata{{"name", name}};
  if (!plan.name_space.empty()) metadata["namespace"] = plan.name_space;
  metadata["labels"] = {{"app.kubernetes.io/name", "ringside"}, {kJobLabel, plan.name}};
  return metadata;
}

/// The labels of every pod of the job.
Json PodMetadata(const ManifestPlan& plan) {
  return {{"labels", {{"app.kubernetes.io/name", "ringside"}, {kJobLabel, plan.name}}}};
}

Json Secret(const ManifestPlan& plan) {
  return {{"apiVersion", "v1"},
          {"kind", "Secret"},
          {"metadata", Metadata(plan, SecretName(plan))},
          {"type", "Opaque"},
          {"stringData", {{kTokenKey, plan.token}}}};
}

/// Data between pods is not encrypted, so nobody else may connect to them.
Json NetworkPolicy(const ManifestPlan& plan) {
  const Json of_the_job{{"matchLabels", {{kJobLabel, plan.name}}}};
  return {{"apiVersion", "networking.k8s.io/v1"},
          {"kind", "NetworkPolicy"},
          {"metadata", Metadata(plan, plan.name)},
          {"spec",
           {{"podSelector", of_the_job},
            {"policyTypes", Json::array({"Ingress"})},
            {"ingress", Json::array({{{"from", Json::array({{{"podSelector", of_the_job}}})}}})}}}};
}

/// Kubernetes replaces "$(NAME)" in arguments and values, and writes "$" for "$$".
std::string Literal(const std::string& text) {
  std::string literal;
  for (const char c : text) literal.append(c == '$' ? 2 : 1, c);
  return literal;
}

Json Environment(const ManifestPlan& plan) {
  Json variables = Json::array();
  variables.push_back({{"name", "RINGSIDE_TOKEN_FILE"}, {"value", kTokenPath}});
  for (const auto& [name, value] : plan.environment) {
    variables.push_back({{"name", name}, {"value", Literal(value)}});
  }
  return variables;
}

/// The launcher's own address: names of pods need not be known everywhere.
Json LauncherEnvironment(const ManifestPlan& plan) {
  Json variables = Environment(plan);
  variables.push_back({{"name", "RINGSIDE_ADDRESS"},
                       {"valueFrom", {{"fieldRef", {{"fieldPath", "status.podIP"}}}}}});
  return variables;
}

/// "500m" times 2 is "1000m".
std::string Times(const std::string& quantity, int count) {
  const std::size_t suffix = quantity.find_first_not_of("0123456789.");
  return fmt::format("{:.12g}{}", count * std::stod(quantity.substr(0, suffix)),
                     suffix == std::string::npos ? "" : quantity.substr(suffix));
}

/// Of a pod with all its processes.
Json Resources(const ManifestPlan& plan) {
  Json limits = Json::object();
  const ManifestResources& resources = plan.resources;
  if (!resources.cpus.empty()) limits["cpu"] = Times(resources.cpus, plan.slots);
  if (!resources.memory.empty()) limits["memory"] = Times(resources.memory, plan.slots);
  if (resources.gpus > 0) limits["nvidia.com/gpu"] = resources.gpus * plan.slots;
  return limits.empty() ? Json::object() : Json{{"limits", limits}};
}

/// The file of the token alone is mounted, because a file in a directory of a Secret is a link.
Json TokenMount() {
  return {{"name", "token"}, {"mountPath", kTokenPath}, {"subPath", kTokenKey}, {"readOnly", true}};
}

Json TokenVolume(const ManifestPlan& plan) {
  constexpr int kOwnerReads = 0400;
  return {{"name", "token"},
          {"secret", {{"secretName", SecretName(plan)}, {"defaultMode", kOwnerReads}}}};
}

/// Worker 0 writes checkpoints into the results.
Json Mounts(const ManifestPlan& plan) {
  Json mounts = Json::array({TokenMount()});
  if (!plan.volume_claim.empty()) {
    mounts.push_back({{"name", "results"}, {"mountPath", kResultsPath}});
  }
  return mounts;
}

Json Volumes(const ManifestPlan& plan) {
  Json volumes = Json::array({TokenVolume(plan)});
  if (!plan.volume_claim.empty()) {
    volumes.push_back(
        {{"name", "results"}, {"persistentVolumeClaim", {{"claimName", plan.volume_claim}}}});
  }
  return volumes;
}

/// The words after the program that the launcher's pod runs.
Json LauncherArguments(const ManifestPlan& plan) {
  Json words = Json::array(
      {"train", "--launcher", "mpirun", "--hostfile", kHostfile, "--start-timeout", kStartTimeout});
  for (const std::string& flag : plan.flags) words.push_back(Literal(flag));
  if (!plan.volume_claim.empty()) {
    words.push_back("--out");
    words.push_back(std::string(kResultsPath) + "/" + plan.name);
  } else {
    words.push_back("--json");  // The log of the pod is all that is left of it.
  }
  if (plan.command.empty()) return words;
  words.push_back("--");
  for (const std::string& word : plan.command) words.push_back(Literal(word));
  return words;
}

Json LauncherContainer(const ManifestPlan& plan, const std::string& name) {
  return {{"name", name},
          {"image", plan.image},
          {"command", Json::array({plan.program})},
          {"args", LauncherArguments(plan)},
          {"env", LauncherEnvironment(plan)},
          {"volumeMounts", Mounts(plan)}};
}

/// A pod with processes. It runs `command`, by which mpirun reaches it.
Json WorkerContainer(const ManifestPlan& plan, const std::string& name, const Json& command) {
  Json container{{"name", name}, {"image", plan.image}};
  if (!command.empty()) container["command"] = command;
  container["env"] = Environment(plan);
  container["resources"] = Resources(plan);
  container["volumeMounts"] = Mounts(plan);
  return container;
}

Json Pod(const ManifestPlan& plan, const Json& container) {
  return {{"metadata", PodMetadata(plan)},
          {"spec", {{"containers", Json::array({container})}, {"volumes", Volumes(plan)}}}};
}

int Pods(const ManifestPlan& plan) { return (plan.processes() + plan.slots - 1) / plan.slots; }

/// A pod that mpirun reaches by ssh. Its host keys are made when it starts, so no two have the
/// same.
Json SshContainer(const ManifestPlan& plan, const std::string& name) {
  constexpr int kSshPort = 22;
  Json container = WorkerContainer(
      plan, name, Json::array({"sh", "-c", "ssh-keygen -A && exec /usr/sbin/sshd -De"}));
  container["readinessProbe"] = {{"tcpSocket", {{"port", kSshPort}}}, {"initialDelaySeconds", 1}};
  return container;
}

/// A failed run is not tried again: `ringside train --on-failure restart` does that by itself.
Json Replicas(int count, const Json& pod) {
  return {{"replicas", count}, {"restartPolicy", "Never"}, {"template", pod}};
}

/// In version 1 mpirun reaches the pods by `kubectl exec`, and the operator starts a `sleep` there.
/// In version 2 it reaches them by ssh.
Json MpiJob(const ManifestPlan& plan) {
  const bool v1 = plan.kind == ManifestKind::kMpiJobV1;
  const Json worker =
      v1 ? WorkerContainer(plan, "mpi", Json::array()) : SshContainer(plan, "mpi-worker");
  const Json launcher = LauncherContainer(plan, v1 ? "mpi" : "mpi-launcher");
  Json spec{{"slotsPerWorker", plan.slots},
            {"runPolicy", {{"cleanPodPolicy", "Running"}, {"backoffLimit", 0}}}};
  if (!v1) {
    spec["mpiImplementation"] = "OpenMPI";
    // Otherwise mpirun may start before the pods that it has to reach.
    spec["launcherCreationPolicy"] = "WaitForWorkersReady";
  }
  spec["mpiReplicaSpecs"] = {{"Launcher", Replicas(1, Pod(plan, launcher))},
                             {"Worker", Replicas(Pods(plan), Pod(plan, worker))}};
  return {{"apiVersion", v1 ? "kubeflow.org/v1" : "kubeflow.org/v2beta1"},
          {"kind", "MPIJob"},
          {"metadata", Metadata(plan, plan.name)},
          {"spec", spec}};
}

Json ReplicatedJob(const std::string& name, Json pod) {
  pod["spec"]["restartPolicy"] = "Never";
  return {{"name", name},
          {"template", {{"spec", {{"backoffLimit", 0}, {"template", std::move(pod)}}}}}};
}

/// Trainer mounts the key of ssh readable by its group, and ssh refuses such a key of its own user.
Json TrainerLauncher(const ManifestPlan& plan) {
  constexpr const char* kKey = "/tmp/ringside-ssh-key";
  Json launcher = LauncherContainer(plan, "node");
  launcher["command"] = Json::array(
      {"sh", "-c", std::string("install -m 600 /root/.ssh/id_rsa ") + kKey + " && exec \"$@\"",
       "sh", plan.program});
  launcher["env"].push_back(
      {{"name", "OMPI_MCA_plm_rsh_agent"}, {"value", std::string("ssh -i ") + kKey}});
  return launcher;
}

/// A runtime of the job's own, because those that come with Trainer are for other programs.
Json TrainingRuntime(const ManifestPlan& plan) {
  const Json node = ReplicatedJob("node", Pod(plan, SshContainer(plan, "node")));
  Json launcher = ReplicatedJob("launcher", Pod(plan, TrainerLauncher(plan)));
  launcher["dependsOn"] = Json::array({{{"name", "node"}, {"status", "Ready"}}});
  launcher["template"]["metadata"] = {
      {"labels", {{"trainer.kubeflow.org/trainjob-ancestor-step", "trainer"}}}};
  const Json mpi{{"numProcPerNode", plan.slots},
                 {"mpiImplementation", "OpenMPI"},
                 {"sshAuthMountPath", "/root/.ssh"},
                 {"runLauncherAsNode", false}};
  const Json job_set{
      {"network", {{"publishNotReadyAddresses", true}}},
      {"successPolicy", {{"operator", "All"}, {"targetReplicatedJobs", Json::array({"launcher"})}}},
      {"replicatedJobs", Json::array({node, launcher})}};
  return {
      {"apiVersion", "trainer.kubeflow.org/v1alpha1"},
      {"kind", "TrainingRuntime"},
      {"metadata", Metadata(plan, plan.name)},
      {"spec", {{"mlPolicy", {{"numNodes", 1}, {"mpi", mpi}}}, {"template", {{"spec", job_set}}}}}};
}

/// It says how many pods there are: the number of the runtime would be that of launchers.
Json TrainJob(const ManifestPlan& plan) {
  return {
      {"apiVersion", "trainer.kubeflow.org/v1alpha1"},
      {"kind", "TrainJob"},
      {"metadata", Metadata(plan, plan.name)},
      {"spec",
       {{"runtimeRef",
         {{"apiGroup", "trainer.kubeflow.org"}, {"kind", "TrainingRuntime"}, {"name", plan.name}}},
        {"trainer", {{"numNodes", Pods(plan)}, {"numProcPerNode", plan.slots}}}}}};
}

}  // namespace

std::vector<Json> KubernetesObjects(const ManifestPlan& plan) {
  std::vector<Json> objects{Secret(plan), NetworkPolicy(plan)};
  if (plan.kind == ManifestKind::kTrainJob) {
    objects.push_back(TrainingRuntime(plan));
    objects.push_back(TrainJob(plan));
  } else {
    objects.push_back(MpiJob(plan));
  }
  return objects;
}

}  // namespace ringside

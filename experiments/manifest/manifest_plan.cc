#include "ringside/experiments/manifest/manifest_plan.h"

#include <fmt/format.h>

#include <array>
#include <regex>
#include <set>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/manifest/kubernetes.h"
#include "ringside/experiments/manifest/sbatch.h"
#include "ringside/experiments/manifest/yaml_text.h"

namespace ringside {
namespace {

constexpr std::array kKinds{ManifestKind::kSbatch, ManifestKind::kMpiJobV1, ManifestKind::kMpiJobV2,
                            ManifestKind::kTrainJob};

void RequireMatch(const std::string& value, const char* pattern, const char* flag,
                  const char* expected) {
  if (value.empty() || std::regex_match(value, std::regex(pattern))) return;
  throw ConfigError(fmt::format("--{}: '{}': expected {}", flag, value, expected));
}

void CheckKubernetes(const ManifestPlan& plan) {
  // The names of pods are longer and must be labels of RFC 1123, of at most 63 characters.
  if (plan.name.empty()) throw ConfigError("--name: give the job a name");
  RequireMatch(plan.name, "[a-z]([-a-z0-9]{0,38}[a-z0-9])?", "name",
               "at most 40 of a-z, 0-9 and '-', the first one a letter and the last one no '-'");
  RequireMatch(plan.name_space, "[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?", "namespace",
               "at most 63 of a-z, 0-9 and '-', the last one no '-'");
  RequireMatch(plan.volume_claim, "[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?", "volume-claim",
               "the name of a PersistentVolumeClaim");
  if (plan.image.empty()) {
    throw ConfigError(
        "--image: give the image with ringside in it; docs/clusters.md says how to build one");
  }
  RequireMatch(plan.image, "[^\\s\"']+", "image", "the name of an image");
  for (const auto& [name, value] : plan.environment) {
    if (name == "RINGSIDE_TOKEN_FILE" || name == "RINGSIDE_ADDRESS" || name.starts_with("OMPI_")) {
      throw ConfigError(fmt::format("--env: {}: the manifest or the operator sets that", name));
    }
  }
  if (plan.slots < 1) throw ConfigError("--slots-per-pod: give at least 1");
}

}  // namespace

const char* ManifestKindName(ManifestKind kind) {
  switch (kind) {
    case ManifestKind::kSbatch:
      return "sbatch";
    case ManifestKind::kMpiJobV1:
      return "mpijob-v1";
    case ManifestKind::kMpiJobV2:
      return "mpijob-v2beta1";
    case ManifestKind::kTrainJob:
      return "trainjob";
  }
  return "unknown";
}

ManifestKind ParseManifestKind(const std::string& name) {
  std::vector<std::string> names;
  for (const ManifestKind kind : kKinds) {
    if (name == ManifestKindName(kind)) return kind;
    names.emplace_back(ManifestKindName(kind));
  }
  throw ConfigError(fmt::format("'{}' is not one of {}", name, fmt::join(names, ", ")));
}

void CheckManifestPlan(const ManifestPlan& plan) {
  RequireMatch(plan.resources.cpus, "[1-9][0-9]*(\\.[0-9]+)?|0\\.[0-9]*[1-9][0-9]*|[1-9][0-9]*m",
               "cpus", "a number of processors, such as 2 or 500m");
  RequireMatch(plan.resources.memory, "[1-9][0-9]*([KMGTP]i?|k)?", "memory",
               "an amount of memory, such as 4Gi");
  std::set<std::string> names;
  for (const auto& [name, value] : plan.environment) {
    RequireMatch(name, "[A-Za-z_][A-Za-z0-9_]*", "env", "NAME=VALUE");
    if (!names.insert(name).second) {
      throw ConfigError(fmt::format("--env: {} is given more than once", name));
    }
  }
  if (plan.kind == ManifestKind::kSbatch) {
    CheckSbatch(plan);
  } else {
    CheckKubernetes(plan);
  }
}

std::string ManifestText(const ManifestPlan& plan) {
  CheckManifestPlan(plan);
  if (plan.kind == ManifestKind::kSbatch) return SbatchText(plan);
  return fmt::format("# {} of {} workers and {} dedicated servers, written by ringside manifest.\n",
                     ManifestKindName(plan.kind), plan.workers, plan.servers) +
         YamlText(KubernetesObjects(plan));
}

}  // namespace ringside

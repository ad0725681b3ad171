#include "ringside/experiments/manifest/sbatch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string_view>
#include <vector>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/text/words.h"

namespace ringside {
namespace {

/// Kubernetes' amount for a process, "4Gi" or "4G", as Slurm's for each of its processors, in MiB.
std::string SlurmMemoryPerCpu(const ManifestResources& resources) {
  const std::string& memory = resources.memory;
  const std::size_t unit = memory.find_first_of("KMGT");
  const double base = memory.ends_with('i') ? 1024 : 1000;
  const auto power = static_cast<double>(std::string_view("KMGT").find(memory[unit]) + 1);
  const double bytes = std::stod(memory.substr(0, unit)) * std::pow(base, power);
  const double cpus = resources.cpus.empty() ? 1 : std::stod(resources.cpus);
  constexpr double kMebibyte = 1 << 20;
  return fmt::format("{:.0f}M", std::ceil(bytes / cpus / kMebibyte));
}

/// Slurm counts in minutes.
std::string SlurmTime(double seconds) {
  const auto minutes = static_cast<long>(std::ceil(seconds / 60));
  return fmt::format("{}", std::max(1L, minutes));
}

}  // namespace

void CheckSbatch(const ManifestPlan& plan) {
  const bool plain = std::ranges::all_of(plan.name, [](unsigned char c) {
    return std::isalnum(c) || c == '-' || c == '_' || c == '.';
  });
  if (plan.name.empty() || !plain) {
    throw ConfigError(
        fmt::format("--name: '{}': expected letters, digits, '-', '_' and '.'", plan.name));
  }
  const std::string& cpus = plan.resources.cpus;
  if (!std::ranges::all_of(cpus, [](unsigned char c) { return std::isdigit(c); })) {
    throw ConfigError(fmt::format("--cpus: '{}': Slurm takes whole processors", cpus));
  }
  const std::string& memory = plan.resources.memory;
  if (!memory.empty() && memory.find_first_of("KMGT") == std::string::npos) {
    throw ConfigError(fmt::format("--memory: '{}': Slurm takes Ki, Mi, Gi or Ti", memory));
  }
  if (plan.nodes > plan.processes()) {
    throw ConfigError(fmt::format("--nodes: {} nodes are more than the {} processes", plan.nodes,
                                  plan.processes()));
  }
  constexpr double kLeastSeconds = 180;
  if (plan.time_limit_s && *plan.time_limit_s < kLeastSeconds) {
    throw ConfigError(
        "--time-limit: give at least 3 minutes: Slurm warns the job up to two minutes before");
  }
  if (!plan.image.empty()) throw ConfigError("--image: a batch script of Slurm has no image");
}

std::string SbatchText(const ManifestPlan& plan) {
  std::string text = "#!/bin/bash\n";
  const auto directive = [&](const std::string& option) { text += "#SBATCH " + option + "\n"; };
  directive("--job-name=" + plan.name);
  directive(fmt::format("--ntasks={}", plan.processes()));
  if (plan.nodes > 0) {
    directive(fmt::format("--nodes={}", plan.nodes));
    directive(
        fmt::format("--ntasks-per-node={}", (plan.processes() + plan.nodes - 1) / plan.nodes));
  }
  if (!plan.resources.cpus.empty()) directive("--cpus-per-task=" + plan.resources.cpus);
  if (!plan.resources.memory.empty()) {
    directive("--mem-per-cpu=" + SlurmMemoryPerCpu(plan.resources));
  }
  if (plan.resources.gpus > 0) {
    directive(fmt::format("--gpus-per-task={}", plan.resources.gpus));
    // Otherwise each task sees its own GPUs alone, and a worker takes the GPU of its local rank.
    directive("--gpu-bind=none");
  }
  if (plan.time_limit_s) directive("--time=" + SlurmTime(*plan.time_limit_s));
  directive("--signal=B:TERM@60");
  directive(fmt::format("--output={}-%j.log", plan.name));
  text += fmt::format("# {} workers and {} dedicated servers, written by ringside manifest.\n",
                      plan.workers, plan.servers);
  text += "set -euo pipefail\n";
  if (!plan.resources.cpus.empty()) {
    // From version 22.05 on srun does not take the number of the job.
    text += fmt::format("export SRUN_CPUS_PER_TASK={}\n", plan.resources.cpus);
  }
  for (const auto& [name, value] : plan.environment) {
    text += fmt::format("export {}={}\n", name, JoinWords({&value, 1}));
  }
  std::vector<std::string> words{"exec", plan.program, "train", "--launcher", "srun"};
  words.insert(words.end(), plan.flags.begin(), plan.flags.end());
  if (!plan.command.empty()) words.emplace_back("--");
  words.insert(words.end(), plan.command.begin(), plan.command.end());
  return text + JoinWords(words) + "\n";
}

}  // namespace ringside

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <vector>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/cli/commands.h"
#include "ringside/experiments/cli/exit_codes.h"
#include "ringside/experiments/cli/machine.h"
#include "ringside/experiments/cli/options/option_set.h"
#include "ringside/experiments/lab/emulation_support.h"
#include "ringside/experiments/spec/resolve/availability.h"
#include "ringside/experiments/system/environment/build_info.h"
#include "ringside/experiments/system/environment/rank_environment.h"
#include "ringside/experiments/system/environment/usable_cores.h"
#include "ringside/experiments/system/files/find_program.h"
#include "ringside/experiments/text/printable.h"
#include "ringside/experiments/text/units.h"
#include "ringside/models/cuda/cuda_models.h"

namespace ringside {
namespace {

constexpr std::uint64_t kEnoughSharedMemory = std::uint64_t{256} << 20;

/// One line of the report of `doctor`.
struct Finding {
  std::string name;
  bool ok = true;
  std::string detail;  ///< What was found, or what is missing and how to get it.
};

Finding Build() {
  const BuildInfo build = ThisBuild();
  return {"build", true,
          fmt::format("ringside {}, git {}, {}, {}", build.version, build.git, build.build_type,
                      build.compiler)};
}

Finding Transport() {
  const BuildInfo build = ThisBuild();
  return {
      "parameter servers, rings", true,
      fmt::format("gRPC {}, Protocol Buffers {}, Gloo {}", build.grpc, build.protobuf, build.gloo)};
}

Finding Libtorch() {
  const BuildInfo build = ThisBuild();
  const std::string name = "models that train";
  if (build.libtorch.empty()) {
    return {name, false,
            "built without libtorch: only profile models run; install libtorch-dev and build with "
            "RINGSIDE_TORCH=ON"};
  }
  const std::string worker = ExecutableDirectory() + "/ringside-worker";
  if (FindProgram("ringside-worker").empty() && FileSystemBytes(worker) == 0) {
    return {name, false, worker + " is missing: build the target ringside-worker"};
  }
  return {name, true, fmt::format("libtorch {}, {}", build.libtorch, worker)};
}

Finding Mpirun() {
  const std::string path = FindProgram("mpirun");
  if (path.empty())
    return {"mpirun", false, "not in PATH: install openmpi-bin to start jobs by it"};
  return {"mpirun", true, path};
}

/// The finding for a strategy that needs a backend: its build, or what is missing.
Finding Backend(const StrategyEntry& entry) {
  const std::string reason = WhyUnavailable(entry);
  const std::string name = "strategy " + entry.name;
  if (!reason.empty()) return {name, false, reason};
  const std::string version = LibraryVersion(entry.backend);
  return {name, true, version.empty() ? entry.backend : entry.backend + " " + version};
}

Finding Gpu() {
  const std::string reason = CudaUnavailable();
  return {"models cuda:", reason.empty(), reason.empty() ? "a GPU is found" : reason};
}

Finding Cores() {
  const int cores = UsableCores();
  return {"cores, memory", true,
          fmt::format("{} cores, {}; more workers than cores take turns", cores,
                      FormatBytes(static_cast<double>(MemoryBytes())))};
}

Finding SharedMemory() {
  const std::uint64_t bytes = FileSystemBytes("/dev/shm");
  const std::string size = FormatBytes(static_cast<double>(bytes));
  if (bytes < kEnoughSharedMemory) {
    return {"shared memory", false,
            fmt::format("/dev/shm holds {}: too little for large models; in a container raise "
                        "--shm-size",
                        size)};
  }
  return {"shared memory", true, "/dev/shm holds " + size};
}

/// The finding for one kind of emulation: why it is unavailable, or what was found.
Finding Emulated(const std::string& name, const std::string& why_not, const std::string& what) {
  return {name, why_not.empty(), why_not.empty() ? what : why_not};
}

/// The finding for the congestion controls of emulated hosts.
Finding EmulatedTcp(const LabSupport& lab) {
  std::string why_not = lab.hosts.empty() ? "" : "needs emulated hosts";
  if (why_not.empty() && lab.congestion_controls.empty()) {
    why_not = "no route can have a congestion control: the kernel or iproute2 is too old";
  }
  return Emulated("emulated TCP", why_not,
                  fmt::format("congestion={}", fmt::join(lab.congestion_controls, ", ")));
}

Finding Ranks() {
  try {
    const auto ranks = DetectRankEnvironment(CurrentEnvironment());
    if (!ranks) return {"ranks", true, "no launcher's variables: train starts its own processes"};
    return {"ranks", true,
            fmt::format("rank {} of {} workers, local rank {} of {}, from {}", ranks->rank,
                        ranks->workers, ranks->local_rank, ranks->local_workers, ranks->source)};
  } catch (const ConfigError& error) {
    return {"ranks", false, error.what()};
  }
}

std::vector<Finding> Diagnose(const Catalog& catalog) {
  const LabSupport lab = ProbeLab();
  std::vector<Finding> findings{Build(), Transport(), Libtorch(), Gpu(), Mpirun()};
  for (const StrategyEntry& entry : catalog.strategies()) {
    if (!entry.backend.empty()) findings.push_back(Backend(entry));
  }
  std::ranges::copy(
      std::vector<Finding>{
          Cores(), SharedMemory(),
          Emulated("emulated hosts", lab.hosts, "network namespaces, joined by iproute2"),
          Emulated("emulated rates", lab.rates, "tbf shapes links"),
          Emulated("emulated latency", lab.delays, "netem delays and loses packets"),
          EmulatedTcp(lab), Ranks()},
      std::back_inserter(findings));
  return findings;
}

void Print(const std::vector<Finding>& findings, const Painter& painter) {
  std::size_t width = 0;
  for (const Finding& finding : findings) width = std::max(width, finding.name.size());
  for (const Finding& finding : findings) {
    fmt::print("  {}  {:<{}}  {}\n", finding.ok ? painter.Good("yes") : painter.Bad("no "),
               finding.name, width, Printable(finding.detail));
  }
}

}  // namespace

int RunDoctorCommand(const Arguments& args, const Catalog& catalog) {
  OptionSet options("doctor", "what this machine can run; for the rest, why not",
                    {{"ringside doctor", "one line per ability"},
                     {"mpirun -n 2 ringside doctor", "where a launcher's ranks come from"}});
  options.AddGroup("Output");
  options.Add({"json", "", "one JSON object on stdout", ""});
  const ParsedOptions parsed = options.Parse(args);
  if (parsed.help()) {
    fmt::print("{}", options.Help(Painter::For(stdout, parsed.color())));
    return kExitDone;
  }
  const std::vector<Finding> findings = Diagnose(catalog);
  if (!parsed.IsOn("json")) {
    Print(findings, Painter::For(stdout, parsed.color()));
    return kExitDone;
  }
  nlohmann::json rows = nlohmann::json::array();
  for (const Finding& finding : findings) {
    rows.push_back({{"name", finding.name}, {"ok", finding.ok}, {"detail", finding.detail}});
  }
  fmt::print("{}\n", nlohmann::json{{"schema", "ringside.doctor/1"}, {"findings", rows}}.dump(2));
  return kExitDone;
}

}  // namespace ringside

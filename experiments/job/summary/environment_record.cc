#include "ringside/experiments/job/summary/environment_record.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <thread>

#include "ringside/experiments/system/environment/build_info.h"
#include "ringside/experiments/system/environment/usable_cores.h"

namespace ringside {
namespace {

constexpr std::array<std::string_view, 18> kVariables{
    "OMP_NUM_THREADS",  "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS",
    "GOTO_NUM_THREADS", "OMP_PROC_BIND",        "CUDA_VISIBLE_DEVICES",
    "GRPC_VERBOSITY",   "GRPC_TRACE",           "GLOO_SOCKET_IFNAME",
    "NCCL_ALGO",        "NCCL_PROTO",           "NCCL_SOCKET_IFNAME",
    "MALLOC_ARENA_MAX", "LD_PRELOAD",           "OMPI_COMM_WORLD_SIZE",
    "WORLD_SIZE",       "SLURM_NTASKS",         "RINGSIDE_ADDRESS",
};

/// The value of the first "key : value" line of a file of /proc.
std::string ProcValue(const char* path, std::string_view key) {
  std::ifstream file(path);
  std::string line;
  while (std::getline(file, line)) {
    if (!line.starts_with(key)) continue;
    const std::size_t value = line.find_first_not_of(" \t", line.find(':') + 1);
    return value == std::string::npos ? "" : line.substr(value);
  }
  return {};
}

std::string FirstLine(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

nlohmann::json Variables(const Environment& environment) {
  nlohmann::json variables = nlohmann::json::object();
  for (const std::string_view name : kVariables) {
    if (const auto found = environment.find(name); found != environment.end()) {
      variables[found->first] = found->second;
    }
  }
  return variables;
}

}  // namespace

nlohmann::json EnvironmentRecord(const Environment& environment) {
  utsname system{};
  ::uname(&system);
  const BuildInfo build = ThisBuild();
  const auto page = static_cast<std::int64_t>(::sysconf(_SC_PAGESIZE));
  return {
      {"schema", "ringside.environment/1"},
      {"host", system.nodename},
      {"cpu_model", ProcValue("/proc/cpuinfo", "model name")},
      {"cores", std::thread::hardware_concurrency()},
      {"usable_cores", UsableCores()},
      {"memory_bytes", page * static_cast<std::int64_t>(::sysconf(_SC_PHYS_PAGES))},
      {"kernel", std::string(system.sysname) + " " + system.release},
      {"machine_tcp_congestion_control", FirstLine("/proc/sys/net/ipv4/tcp_congestion_control")},
      {"version", build.version},
      {"git", build.git},
      {"build_type", build.build_type},
      {"compiler", build.compiler},
      {"libraries",
       {{"grpc", build.grpc},
        {"protobuf", build.protobuf},
        {"gloo", build.gloo},
        {"libtorch", build.libtorch}}},
      {"variables", Variables(environment)},
  };
}

}  // namespace ringside

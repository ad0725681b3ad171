#include "ringside/ring/backends/nccl_settings.h"

#include <fmt/format.h>

namespace ringside {

const char* NcclAlgorithmSetting(NcclAlgorithm algorithm) {
  return algorithm == NcclAlgorithm::kTree ? "allreduce:tree" : "allreduce:ring";
}

std::string NcclInterface(const std::string& address) {
  return address.starts_with("127.") || address == "::1" ? "lo" : "";
}

std::vector<std::pair<std::string, std::string>> SharedGpuSettings(int rank) {
  return {{"NCCL_HOSTID", fmt::format("ringside-worker-{}", rank)},
          {"NCCL_NET", "Socket"},
          {"NCCL_SOCKET_IFNAME", "lo"},
          {"NCCL_P2P_DISABLE", "1"},
          {"NCCL_SHM_DISABLE", "1"}};
}

std::string TooFewDevices(int local_workers, int devices) {
  if (local_workers <= devices) return {};
  return fmt::format(
      "{} workers on a host with {} GPU{} that this one sees: NCCL takes one rank a GPU; give at "
      "most {} worker{} a host, all GPUs of a host to each of its workers (Slurm: "
      "--gpu-bind=none), or nccl-share-gpu for an emulation",
      local_workers, devices, devices == 1 ? "" : "s", devices, devices == 1 ? "" : "s");
}

}  // namespace ringside

#include "ringside/common/strategy/gpu_count.h"

#include <unistd.h>

#include <array>

namespace ringside {
namespace {

std::string MachineName() {
  std::array<char, 256> name{};
  const int error = ::gethostname(name.data(), name.size() - 1);
  return error == 0 ? std::string(name.data()) : "this machine";
}

std::string VersionText(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

/// What CUDA itself does not say about the driver; empty: nothing.
std::string DriverText(const GpuCount& count) {
  if (count.driver_version == 0) return "no NVIDIA driver is loaded";
  if (count.driver_version / 1000 >= count.runtime_version / 1000) return {};
  return "the driver knows CUDA " + VersionText(count.driver_version) +
         ", but the library is that of CUDA " + VersionText(count.runtime_version);
}

}  // namespace

std::string WhyNoGpu(const GpuCount& count) {
  if (count.error.empty() && count.gpus > 0) return {};
  std::string reason = count.error.empty() ? "CUDA counts 0" : count.error;
  if (const std::string driver = DriverText(count); !driver.empty()) reason += ": " + driver;
  return "no GPU is found on " + MachineName() + " (" + reason +
         "); run it on a machine with an NVIDIA GPU and its driver";
}

}  // namespace ringside

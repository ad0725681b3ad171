#ifndef RINGSIDE_RING_NCCL_SETTINGS_H_
#define RINGSIDE_RING_NCCL_SETTINGS_H_

#include <string>
#include <utility>
#include <vector>

#include "common/strategy_options.h"

namespace ringside {

/// What can be said of NCCL without it. Pure.

/// The value of NCCL_ALGO: the all-reduce alone is pinned, as not every operation knows a tree.
const char* NcclAlgorithmSetting(NcclAlgorithm algorithm);

/// Environment variables under which NCCL lets workers share a GPU: it takes worker `rank` for a
/// host of its own, and reaches the others through sockets on the loopback device.
std::vector<std::pair<std::string, std::string>> SharedGpuSettings(int rank);

/// For the run's summary.
inline constexpr char kSharedGpuNote[] =
    "emulated: workers share a GPU; NCCL takes each for a host of its own and sends through "
    "sockets "
    "of the loopback device";

/// Why a machine cannot run NCCL, and what to do; empty: it can. `error` is CUDA's, empty when it
/// has counted `devices`.
std::string NoDevice(const std::string& error, int devices);

/// Why `local_workers` workers of one host cannot share its `devices` GPUs; empty: each has one.
std::string TooFewDevices(int local_workers, int devices);

}  // namespace ringside

#endif  // RINGSIDE_RING_NCCL_SETTINGS_H_

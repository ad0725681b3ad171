#ifndef RINGSIDE_RING_NCCL_SETTINGS_H_
#define RINGSIDE_RING_NCCL_SETTINGS_H_

#include <string>

#include "common/strategy_options.h"

namespace ringside {

/// What can be said of NCCL without it. Pure.

/// The value of NCCL_ALGO: the all-reduce alone is pinned, as not every operation knows a tree.
const char* NcclAlgorithmSetting(NcclAlgorithm algorithm);

/// Why a machine cannot run NCCL, and what to do; empty: it can. `error` is CUDA's, empty when it
/// has counted `devices`.
std::string NoDevice(const std::string& error, int devices);

/// Why `local_workers` workers of one host cannot share its `devices` GPUs; empty: each has one.
std::string TooFewDevices(int local_workers, int devices);

}  // namespace ringside

#endif  // RINGSIDE_RING_NCCL_SETTINGS_H_

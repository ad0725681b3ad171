#ifndef RINGSIDE_COMMON_STRATEGY_GPU_COUNT_H_
#define RINGSIDE_COMMON_STRATEGY_GPU_COUNT_H_

#include <string>

namespace ringside {

/// What CUDA says when it is asked how many GPUs this machine has.
struct GpuCount {
  int gpus = 0;
  std::string error = {};  ///< CUDA's text; empty: none.
  /// The newest CUDA that the driver knows, 1000 * major + 10 * minor; 0: no driver is loaded.
  int driver_version = 0;
  int runtime_version = 0;  ///< Of the CUDA library that asked.
};

/// Why there is no GPU, with the name of this machine, and what to do; empty: there is one.
std::string WhyNoGpu(const GpuCount& count);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_STRATEGY_GPU_COUNT_H_

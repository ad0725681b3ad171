#ifndef RINGSIDE_TESTS_GPU_DEVICE_MEMORY_H_
#define RINGSIDE_TESTS_GPU_DEVICE_MEMORY_H_

#include <cstddef>

/// What the stand-in for CUDA tells the stand-in for NCCL.

extern "C" {

/// Where the bytes of device memory really are. `device` is an address that `cudaMalloc` returned,
/// or lies in `bytes` that begin there. Null: it is no device memory, or it ends earlier.
void* RingsideDeviceBytes(const void* device, std::size_t bytes);

/// The GPU that is current in this thread.
int RingsideCurrentDevice();
}

#endif  // RINGSIDE_TESTS_GPU_DEVICE_MEMORY_H_

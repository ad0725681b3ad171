#ifndef RINGSIDE_MODELS_CUDA_DEVICE_CUDA_DEVICE_H_
#define RINGSIDE_MODELS_CUDA_DEVICE_CUDA_DEVICE_H_

// Private to models/cuda.

#include <cuda_runtime.h>

#include <cstddef>
#include <span>
#include <string>

#include "ringside/models/cuda/cuda_models.h"

namespace ringside {

/// Throws `InternalError` with CUDA's text unless the call succeeded.
void CheckCuda(cudaError_t code);

/// The same for an allocation on the GPU: says how many bytes it lacks.
void CheckAllocation(cudaError_t code, std::size_t bytes);

/// One GPU. CUDA keeps a current device for each thread: every call from another thread begins with
/// `MakeCurrent`.
class CudaDevice {
 public:
  /// That of the local rank; if there are fewer, they are counted from 0 again. Makes it the
  /// current one of this thread. Throws `MissingBackendError` when there is none.
  explicit CudaDevice(int local_rank);
  void MakeCurrent() const { CheckCuda(cudaSetDevice(index_)); }
  /// Its place on the bus of the machine, whatever the number by which a process calls it.
  std::string id() const;

 private:
  int index_ = 0;
};

/// Why there is no GPU here, and what to do; empty: there is one.
std::string GpuUnavailable();

/// Which stream's kernels the GPU begins first.
enum class StreamUse {
  kCompute,
  kBetween,  ///< What others wait for, in little time: before the kernels of a backward pass.
};

/// A stream that waits for no other one.
class CudaStream {
 public:
  explicit CudaStream(StreamUse use = StreamUse::kCompute);
  ~CudaStream() { cudaStreamDestroy(stream_); }
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;
  cudaStream_t get() const { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

/// A point in the work of a stream.
class CudaEvent {
 public:
  CudaEvent() { CheckCuda(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming)); }
  ~CudaEvent() { cudaEventDestroy(event_); }
  CudaEvent(const CudaEvent&) = delete;
  CudaEvent& operator=(const CudaEvent&) = delete;
  void Record(const CudaStream& stream) { CheckCuda(cudaEventRecord(event_, stream.get())); }
  /// The stream waits until the point is reached. The host does not.
  void HoldBack(const CudaStream& stream) const {
    CheckCuda(cudaStreamWaitEvent(stream.get(), event_, 0));
  }
  /// The host waits. It looks without a pause at first, then gives its core away between looks.
  void Wait() const;

 private:
  cudaEvent_t event_ = nullptr;
};

/// An array on the GPU, of undefined content.
template <typename T>
class DeviceArray {
 public:
  DeviceArray() = default;
  explicit DeviceArray(std::size_t size) { Resize(size); }
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  /// The content is lost when it grows. Nothing on the GPU may use it then.
  void Resize(std::size_t size) {
    if (size > size_) {
      CheckCuda(cudaFree(data_));
      data_ = nullptr;
      size_ = 0;
      CheckAllocation(cudaMalloc(reinterpret_cast<void**>(&data_), size * sizeof(T)),
                      size * sizeof(T));
      size_ = size;
    }
  }
  T* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// An array in host memory that a GPU copies from and to directly, in the order of a stream.
template <typename T>
class PinnedArray {
 public:
  PinnedArray() = default;
  explicit PinnedArray(std::size_t size) { Resize(size); }
  ~PinnedArray() { cudaFreeHost(data_); }
  PinnedArray(const PinnedArray&) = delete;
  PinnedArray& operator=(const PinnedArray&) = delete;

  /// The content is lost when it grows. Nothing on the GPU may use it then.
  void Resize(std::size_t size) {
    if (size > size_) {
      CheckCuda(cudaFreeHost(data_));
      data_ = nullptr;
      size_ = 0;
      CheckCuda(cudaMallocHost(reinterpret_cast<void**>(&data_), size * sizeof(T)));
      size_ = size;
    }
  }
  T* data() const { return data_; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Copies on a stream, after what it does before.
template <typename T>
void EnqueueToDevice(T* device, const T* host, std::size_t size, const CudaStream& stream) {
  CheckCuda(cudaMemcpyAsync(device, host, size * sizeof(T), cudaMemcpyHostToDevice, stream.get()));
}
template <typename T>
void EnqueueToHost(T* host, const T* device, std::size_t size, const CudaStream& stream) {
  CheckCuda(cudaMemcpyAsync(host, device, size * sizeof(T), cudaMemcpyDeviceToHost, stream.get()));
}

}  // namespace ringside

#endif  // RINGSIDE_MODELS_CUDA_DEVICE_CUDA_DEVICE_H_

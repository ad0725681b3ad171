// Steps and bytes are those of NCCL's ring or double binary tree. Around a sum in host memory there
// are two copies of M bytes each between host and GPU.
#include "ringside/ring/backends/nccl/nccl_collective.h"

#include <cuda_runtime.h>
#include <fmt/format.h>
#include <nccl.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <thread>

#include "ringside/common/base/deadline.h"
#include "ringside/common/base/errors.h"
#include "ringside/common/strategy/gpu_count.h"
#include "ringside/ring/backends/backend_library.h"
#include "ringside/ring/backends/nccl_settings.h"

namespace ringside {
namespace {

constexpr std::chrono::milliseconds kLookWithoutPause{1};
constexpr std::chrono::microseconds kPause{50};

/// A CUDA or NCCL call that returned an error.
class DeviceError : public Error {
 public:
  using Error::Error;
};

void Check(cudaError_t code) {
  if (code != cudaSuccess) throw DeviceError(cudaGetErrorString(code));
}

/// In progress is no error: the communicator does not block.
void Check(ncclResult_t code) {
  if (code != ncclSuccess && code != ncclInProgress) throw DeviceError(ncclGetErrorString(code));
}

ncclUniqueId ExchangeId(const CollectiveContext& context) {
  ncclUniqueId id;
  const std::string key = context.prefix + "/id";
  if (context.world.rank == 0) {
    Check(ncclGetUniqueId(&id));
    context.store.Set(key, {id.internal, sizeof(id.internal)});
    return id;
  }
  const Deadline deadline = Deadline::After(context.comm.rendezvous_timeout());
  const std::string value = context.store.Get(key, deadline);
  if (value.size() != sizeof(id.internal)) {
    throw CommError("worker 0", "the start of NCCL", "its identifier has the wrong size");
  }
  std::memcpy(id.internal, value.data(), value.size());
  return id;
}

int DeviceCount() {
  int devices = 0;
  Check(cudaGetDeviceCount(&devices));
  return devices;
}

}  // namespace

/// One GPU with a stream, a buffer and a communicator. All calls need it as the current device.
class NcclCollective::Device {
 public:
  explicit Device(const CollectiveContext& context) : index_(IndexFor(context)) {
    MakeCurrent();
    if (context.options.Get(kNcclShareGpu)) {
      for (const auto& [name, value] : SharedGpuSettings(context.world.rank)) {
        ::setenv(name.c_str(), value.c_str(), 1);
      }
    }
    // What the user has set stays.
    if (const std::string device = NcclInterface(context.comm.address); !device.empty()) {
      ::setenv("NCCL_SOCKET_IFNAME", device.c_str(), 0);
    }
    // NCCL takes it from nowhere else.
    ::setenv("NCCL_ALGO", NcclAlgorithmSetting(context.options.Get(kNcclAlgorithm)), 1);
    // Before the kernels of a backward pass on the same GPU, which would hold the sums up.
    int least_priority = 0;
    int greatest_priority = 0;
    Check(cudaDeviceGetStreamPriorityRange(&least_priority, &greatest_priority));
    Check(cudaStreamCreateWithPriority(&stream_, cudaStreamNonBlocking, greatest_priority));
    Check(cudaEventCreateWithFlags(&done_, cudaEventDisableTiming));
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.blocking = 0;
    Check(ncclCommInitRankConfig(&communicator_, context.world.workers, ExchangeId(context),
                                 context.world.rank, &config));
    WaitUntilReady(Deadline::After(context.comm.rendezvous_timeout()));
  }
  /// Peers that still use it fail; after a call that all ranks leave together there are none.
  ~Device() {
    cudaSetDevice(index_);
    for (void* pinned : pinned_) cudaHostUnregister(pinned);
    if (communicator_ != nullptr) ncclCommAbort(communicator_);
    if (done_ != nullptr) cudaEventDestroy(done_);
    if (stream_ != nullptr) cudaStreamDestroy(stream_);
    cudaFree(buffer_);
  }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  /// CUDA keeps a current device for each thread, and the caller changes threads.
  void MakeCurrent() const { Check(cudaSetDevice(index_)); }

  /// Pins memory, so that CUDA copies from and to it directly.
  void Pin(std::span<const float> memory) {
    if (memory.empty()) return;
    auto* start = const_cast<float*>(memory.data());
    const cudaError_t code = cudaHostRegister(start, memory.size_bytes(), cudaHostRegisterDefault);
    if (code == cudaErrorHostMemoryAlreadyRegistered) {  // by a model that computes on the GPU
      cudaGetLastError();                                // CUDA keeps it otherwise
      return;
    }
    Check(code);
    pinned_.push_back(start);
  }

  /// Returns the buffer on the GPU; its content is lost when it grows.
  std::byte* Buffer(std::size_t bytes) {
    if (bytes > capacity_) {
      cudaFree(buffer_);
      buffer_ = nullptr;
      capacity_ = 0;
      Check(cudaMalloc(reinterpret_cast<void**>(&buffer_), bytes));
      capacity_ = bytes;
    }
    return buffer_;
  }

  void ToDevice(std::byte* device, std::span<const std::byte> host) const {
    Check(cudaMemcpyAsync(device, host.data(), host.size(), cudaMemcpyHostToDevice, stream_));
  }
  void ToHost(std::span<std::byte> host, const std::byte* device) const {
    Check(cudaMemcpyAsync(host.data(), device, host.size(), cudaMemcpyDeviceToHost, stream_));
  }

  /// Waits until NCCL has accepted the operation. Throws `DeviceError` when it failed or is late.
  void WaitUntilReady(const Deadline& deadline) const {
    while (!HasSettled()) ThrowWhenLate(deadline);
  }
  /// Waits until all operations are done. Polls without a pause at first. Then, if `model_on_host`,
  /// it yields the core to the backward pass between polls.
  void Finish(const Deadline& deadline, bool model_on_host = true) const {
    Check(cudaEventRecord(done_, stream_));
    const auto patience = Deadline::After(kLookWithoutPause);
    for (cudaError_t state; (state = cudaEventQuery(done_)) != cudaSuccess;) {
      if (state != cudaErrorNotReady) Check(state);
      HasSettled();
      ThrowWhenLate(deadline);
      if (!patience.expired()) continue;
      if (model_on_host) {
        std::this_thread::sleep_for(kPause);
      } else {
        std::this_thread::yield();
      }
    }
  }

  ncclComm_t communicator() const { return communicator_; }
  cudaStream_t stream() const { return stream_; }

 private:
  static int IndexFor(const CollectiveContext& context) {
    const int devices = DeviceCount();
    if (context.options.Get(kNcclShareGpu) && devices > 0)
      return context.world.local_rank % devices;
    const std::string reason = TooFewDevices(context.world.local_workers, devices);
    if (!reason.empty()) throw MissingBackendError(reason);
    return context.world.local_rank;
  }
  bool HasSettled() const {
    ncclResult_t state = ncclSuccess;
    Check(ncclCommGetAsyncError(communicator_, &state));
    Check(state);
    return state != ncclInProgress;
  }
  static void ThrowWhenLate(const Deadline& deadline) {
    if (deadline.expired()) throw DeviceError("it took longer than its timeout");
  }

  const int index_;
  cudaStream_t stream_ = nullptr;
  cudaEvent_t done_ = nullptr;  // of the operation under way
  ncclComm_t communicator_ = nullptr;
  std::byte* buffer_ = nullptr;
  std::size_t capacity_ = 0;
  std::vector<void*> pinned_;
};

NcclCollective::NcclCollective(const CollectiveContext& context)
    : world_(context.world),
      timeout_(context.comm.timeout),
      shares_gpu_(context.options.Get(kNcclShareGpu)) {
  try {
    device_ = std::make_unique<Device>(context);
  } catch (const DeviceError& error) {
    throw CommError("another worker", "the start of NCCL", error.what());
  }
}

NcclCollective::~NcclCollective() = default;

std::string NcclCollective::Notes() const { return shares_gpu_ ? kSharedGpuNote : ""; }

void NcclCollective::Prepare(const FlatSpace& space, const BucketPlan& plan) {
  Run(Operation("pinning of the vectors"), [&](const Deadline&) {
    device_->Pin(space.params());
    device_->Pin(space.grads());
    for (int bucket = 0; bucket < plan.buckets(); ++bucket) {
      device_->Buffer(plan.range(bucket).size() * sizeof(float));
    }
  });
}

void NcclCollective::AllReduceSum(const BucketMessage& message) {
  const std::span<float> data = message.data;
  if (data.empty()) return;
  const bool copies = message.device == ringside::Device::kCpu;
  Run({"all-reduce of", message}, [&](const Deadline& deadline) {
    std::byte* buffer =
        copies ? device_->Buffer(data.size_bytes()) : reinterpret_cast<std::byte*>(data.data());
    if (copies) device_->ToDevice(buffer, std::as_bytes(data));
    Check(ncclAllReduce(buffer, buffer, data.size(), ncclFloat32, ncclSum, device_->communicator(),
                        device_->stream()));
    device_->WaitUntilReady(deadline);
    if (copies) device_->ToHost(std::as_writable_bytes(data), buffer);
    device_->Finish(deadline, copies);
    traffic_.sent += data.size_bytes();
    traffic_.received += data.size_bytes();
  });
}

void NcclCollective::Broadcast(std::span<std::byte> data, int root) {
  if (data.empty()) return;
  Run(Operation::WithWorker("broadcast from", root), [&](const Deadline& deadline) {
    std::byte* buffer = device_->Buffer(data.size());
    device_->ToDevice(buffer, data);
    Check(ncclBroadcast(buffer, buffer, data.size(), ncclUint8, root, device_->communicator(),
                        device_->stream()));
    device_->WaitUntilReady(deadline);
    device_->ToHost(data, buffer);
    device_->Finish(deadline);
    (world_.rank == root ? traffic_.sent : traffic_.received) += data.size();
  });
}

void NcclCollective::AllGatherInto(std::span<const std::byte> mine, std::vector<std::byte>& all) {
  // NCCL gathers nothing where there is nothing, but a gather is a barrier.
  const std::size_t block = std::max<std::size_t>(mine.size(), 1);
  all.resize(block * static_cast<std::size_t>(world_.workers));
  Run(Operation("all-gather"), [&](const Deadline& deadline) {
    std::byte* buffer = device_->Buffer(all.size());
    std::byte* own = buffer + block * static_cast<std::size_t>(world_.rank);
    device_->ToDevice(own, mine);
    Check(ncclAllGather(own, buffer, block, ncclUint8, device_->communicator(), device_->stream()));
    device_->WaitUntilReady(deadline);
    device_->ToHost(all, buffer);
    device_->Finish(deadline);
    traffic_.sent += mine.size();
    traffic_.received += all.size() - block;
  });
  if (mine.empty()) all.clear();
}

template <typename Call>
void NcclCollective::Run(const Operation& operation, const Call& call) {
  failure_.Check();
  try {
    device_->MakeCurrent();
    call(Deadline::After(timeout_));
  } catch (const DeviceError& error) {
    device_.reset();
    const CommError failure("another worker", operation.Text(), error.what());
    failure_.Set(failure);
    throw failure;
  }
}

namespace {

std::string Unavailable() {
  GpuCount count;
  const cudaError_t code = cudaGetDeviceCount(&count.gpus);
  if (code != cudaSuccess) count.error = cudaGetErrorString(code);
  // They fail only for a null pointer.
  static_cast<void>(cudaDriverGetVersion(&count.driver_version));
  static_cast<void>(cudaRuntimeGetVersion(&count.runtime_version));
  return WhyNoGpu(count);
}

std::unique_ptr<Collective> Make(const CollectiveContext& context) {
  return std::make_unique<NcclCollective>(context);
}

constexpr CollectiveBackend kBackend{.unavailable = Unavailable, .make = Make};

}  // namespace
}  // namespace ringside

// NOLINTNEXTLINE(readability-identifier-naming): an exported C function
extern "C" __attribute__((visibility("default"))) const char* ringside_backend_version() {
  return ringside::BackendVersion();
}

extern "C" __attribute__((visibility("default"))) const ringside::CollectiveBackend*
ringside_collective_backend() {
  return &ringside::kBackend;
}

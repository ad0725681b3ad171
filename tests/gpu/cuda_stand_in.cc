// A stand-in for libcudart: the functions of it that Ringside calls, without a GPU. It is as strict
// as a GPU where a mistake would show there alone:
// - The host cannot touch device memory: its addresses are mapped without any right.
// - What is put on a stream happens later, on a thread of the stream, in order. Every operation
//   first waits for a moment. So a result that nobody waited for is not there.
// - Arguments are checked: devices, ranges, directions, memory that is pinned twice.
//
// Environment: RINGSIDE_STAND_IN_GPUS: how many GPUs there are (default 8); `old-driver`: the
// driver is older than the library. RINGSIDE_STAND_IN_LOG: a directory, where every process writes
// what it has done when it ends.
#include <cuda_runtime.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>

#include "tests/gpu/device_memory.h"

namespace {

/// Bytes that begin at `real`, at addresses that the program sees.
struct Block {
  std::size_t bytes = 0;
  std::byte* real = nullptr;
};

/// Pinned memory.
struct Pinned {
  std::size_t bytes = 0;
  std::string mapping;  // `MappingOf` its first byte
};

/// What the process has, and what it has done.
struct Machine {
  std::mutex mutex;
  std::map<const std::byte*, Block> device;  // by the address that the program sees
  std::map<const std::byte*, Pinned> pinned;
  std::atomic<int> streams = 0;
  std::atomic<int> events = 0;
  std::atomic<std::uint64_t> pinned_copies = 0;
  std::atomic<std::uint64_t> pageable_copies = 0;
  std::atomic<std::uint64_t> bytes_to_host = 0;
  std::atomic<std::uint64_t> host_functions = 0;
  std::atomic<int> stream_waits = 0;  // of the host
};

/// It outlives the static objects of everybody who calls CUDA.
Machine& TheMachine() {
  static auto* const machine = new Machine;
  return *machine;
}

thread_local int current_device = 0;

std::string Setting(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : value;
}

template <typename Map>
typename Map::const_iterator Holding(const Map& blocks, const void* address) {
  auto after = blocks.upper_bound(static_cast<const std::byte*>(address));
  return after == blocks.begin() ? blocks.end() : std::prev(after);
}

/// What the memory at an address is: the file that is mapped there, and where in it.
std::string MappingOf(const void* address) {
  std::ifstream maps("/proc/self/maps");
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  for (std::string line; std::getline(maps, line);) {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    char dash = 0;
    std::string rights, offset, device, inode;
    std::istringstream fields(line);
    fields >> std::hex >> begin >> dash >> end >> rights >> offset >> device >> inode;
    if (begin <= wanted && wanted < end) return device + " " + inode;
  }
  return "nothing";
}

/// What is pinned is memory, not an address. Returns `cudaErrorInvalidValue` where other memory has
/// been mapped since then: a GPU would still copy to the old one.
cudaError_t FindPinned(const void* address, std::size_t bytes, bool& pinned) {
  Machine& machine = TheMachine();
  const std::lock_guard lock(machine.mutex);
  const auto found = Holding(machine.pinned, address);
  pinned = found != machine.pinned.end() &&
           static_cast<const std::byte*>(address) + bytes <= found->first + found->second.bytes;
  if (!pinned || found->second.mapping == MappingOf(found->first)) return cudaSuccess;
  return cudaErrorInvalidValue;
}

}  // namespace

struct CUevent_st {
  std::atomic<std::uint64_t> recorded = 0;
  std::atomic<std::uint64_t> reached = 0;
};

/// Does its operations in order.
struct CUstream_st {
  CUstream_st() : thread_([this] { Work(); }) {}
  ~CUstream_st() {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    more_.notify_one();
    thread_.join();
  }
  CUstream_st(const CUstream_st&) = delete;
  CUstream_st& operator=(const CUstream_st&) = delete;

  void Add(std::function<void()> operation) {
    ++left_;
    {
      const std::lock_guard lock(mutex_);
      operations_.push_back(std::move(operation));
    }
    more_.notify_one();
  }

  bool Empty() const { return left_ == 0; }

 private:
  void Work() {
    std::minstd_rand random(static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(this)));
    std::unique_lock lock(mutex_);
    for (;;) {
      more_.wait(lock, [this] { return ends_ || !operations_.empty(); });
      if (operations_.empty()) return;
      const std::function<void()> operation = std::move(operations_.front());
      operations_.pop_front();
      lock.unlock();
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 200));
      operation();
      --left_;
      lock.lock();
    }
  }

  std::mutex mutex_;
  std::condition_variable more_;
  std::deque<std::function<void()>> operations_;
  std::atomic<int> left_ = 0;  // operations that are not done
  bool ends_ = false;
  std::thread thread_;
};

namespace {

/// Writes what this process has done, when it ends.
struct Log {
  ~Log() {
    const std::string directory = Setting("RINGSIDE_STAND_IN_LOG", "");
    if (directory.empty()) return;
    Machine& machine = TheMachine();
    const std::string path = directory + "/" + std::to_string(::getpid()) + ".json";
    std::FILE* file = std::fopen(path.c_str(), "w");
    if (file == nullptr) return;  // the test misses it
    std::fprintf(file,
                 "{\"pinned_copies\": %llu, \"pageable_copies\": %llu, \"bytes_to_host\": %llu, "
                 "\"host_functions\": %llu, \"stream_waits\": %d, "
                 "\"device_blocks_left\": %zu, \"pinned_left\": %zu, \"streams_left\": %d, "
                 "\"events_left\": %d}\n",
                 static_cast<unsigned long long>(machine.pinned_copies),
                 static_cast<unsigned long long>(machine.pageable_copies),
                 static_cast<unsigned long long>(machine.bytes_to_host),
                 static_cast<unsigned long long>(machine.host_functions),
                 machine.stream_waits.load(), machine.device.size(), machine.pinned.size(),
                 machine.streams.load(), machine.events.load());
    std::fclose(file);
  }
};
const Log the_log;

}  // namespace

extern "C" {

void* RingsideDeviceBytes(const void* device, std::size_t bytes) {
  Machine& machine = TheMachine();
  const std::lock_guard lock(machine.mutex);
  const auto found = Holding(machine.device, device);
  if (found == machine.device.end()) return nullptr;
  const auto offset =
      static_cast<std::size_t>(static_cast<const std::byte*>(device) - found->first);
  if (offset + bytes > found->second.bytes) return nullptr;
  return found->second.real + offset;
}

int RingsideCurrentDevice() { return current_device; }

cudaError_t cudaGetDeviceCount(int* count) {
  const std::string gpus = Setting("RINGSIDE_STAND_IN_GPUS", "8");
  *count = 0;
  if (gpus == "old-driver") return cudaErrorInsufficientDriver;
  *count = std::atoi(gpus.c_str());
  return *count == 0 ? cudaErrorNoDevice : cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int* version) {
  const bool old = Setting("RINGSIDE_STAND_IN_GPUS", "8") == "old-driver";
  *version = old ? 10020 : CUDART_VERSION;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetPCIBusId(char* id, int size, int device) {
  return std::snprintf(id, static_cast<std::size_t>(size), "0000:%02x:00.0", device) < size
             ? cudaSuccess
             : cudaErrorInvalidValue;
}

cudaError_t cudaSetDevice(int device) {
  int count = 0;
  const cudaError_t code = cudaGetDeviceCount(&count);
  if (code != cudaSuccess) return code;
  if (device < 0 || device >= count) return cudaErrorInvalidDevice;
  current_device = device;
  return cudaSuccess;
}

cudaError_t cudaMalloc(void** device, std::size_t bytes) {
  const int file = ::memfd_create("gpu-stand-in", MFD_CLOEXEC);
  if (file < 0 || ::ftruncate(file, static_cast<off_t>(bytes)) != 0)
    return cudaErrorMemoryAllocation;
  void* real = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  void* seen = ::mmap(nullptr, bytes, PROT_NONE, MAP_SHARED, file, 0);
  ::close(file);
  if (real == MAP_FAILED || seen == MAP_FAILED) return cudaErrorMemoryAllocation;
  // Nobody may count on zeros.
  std::memset(real, 0xA5, bytes);
  Machine& machine = TheMachine();
  const std::lock_guard lock(machine.mutex);
  machine.device[static_cast<std::byte*>(seen)] = {bytes, static_cast<std::byte*>(real)};
  *device = seen;
  return cudaSuccess;
}

cudaError_t cudaFree(void* device) {
  if (device == nullptr) return cudaSuccess;
  Machine& machine = TheMachine();
  const std::lock_guard lock(machine.mutex);
  const auto found = machine.device.find(static_cast<std::byte*>(device));
  if (found == machine.device.end()) return cudaErrorInvalidValue;
  ::munmap(found->second.real, found->second.bytes);
  ::munmap(device, found->second.bytes);
  machine.device.erase(found);
  return cudaSuccess;
}

cudaError_t cudaHostRegister(void* host, std::size_t bytes, unsigned int) {
  if (host == nullptr || bytes == 0) return cudaErrorInvalidValue;
  Machine& machine = TheMachine();
  const std::lock_guard lock(machine.mutex);
  const auto* begin = static_cast<const std::byte*>(host);
  for (const auto& [other, block] : machine.pinned) {
    if (begin < other + block.bytes && other < begin + bytes) {
      return cudaErrorHostMemoryAlreadyRegistered;
    }
  }
  machine.pinned[begin] = {bytes, MappingOf(begin)};
  return cudaSuccess;
}

cudaError_t cudaHostUnregister(void* host) {
  Machine& machine = TheMachine();
  const std::lock_guard lock(machine.mutex);
  return machine.pinned.erase(static_cast<const std::byte*>(host)) == 1
             ? cudaSuccess
             : cudaErrorHostMemoryNotRegistered;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned int) {
  *stream = new CUstream_st;
  ++TheMachine().streams;
  return cudaSuccess;
}

cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  *least = 0;
  *greatest = -5;
  return cudaSuccess;
}

/// All streams have one thread each, so none goes first.
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned int flags, int priority) {
  if (priority > 0 || priority < -5) return cudaErrorInvalidValue;
  return cudaStreamCreateWithFlags(stream, flags);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  delete stream;
  --TheMachine().streams;
  return cudaSuccess;
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  return stream->Empty() ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned int) {
  *event = new CUevent_st;
  ++TheMachine().events;
  return cudaSuccess;
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  ++TheMachine().stream_waits;
  std::atomic<bool> reached = false;
  stream->Add([&reached] { reached = true; });
  while (!reached) std::this_thread::yield();
  return cudaSuccess;
}

/// Holds the stream back on its own thread.
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int) {
  if (stream == nullptr || event == nullptr) return cudaErrorInvalidResourceHandle;
  const std::uint64_t number = event->recorded;
  stream->Add([event, number] {
    while (event->reached < number) std::this_thread::yield();
  });
  return cudaSuccess;
}

/// After its stream, or when it was reached.
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  if (event == nullptr) return cudaErrorInvalidResourceHandle;
  while (event->reached < event->recorded) std::this_thread::yield();
  delete event;
  --TheMachine().events;
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  if (event == nullptr || stream == nullptr) return cudaErrorInvalidResourceHandle;
  const std::uint64_t number = ++event->recorded;
  stream->Add([event, number] { event->reached = number; });
  return cudaSuccess;
}

cudaError_t cudaEventQuery(cudaEvent_t event) {
  if (event == nullptr) return cudaErrorInvalidResourceHandle;
  return event->reached == event->recorded ? cudaSuccess : cudaErrorNotReady;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  if (bytes == 0) return cudaSuccess;
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  void* device_to = RingsideDeviceBytes(to, bytes);
  void* device_from = RingsideDeviceBytes(from, bytes);
  const bool to_device = kind == cudaMemcpyHostToDevice;
  if (!to_device && kind != cudaMemcpyDeviceToHost) return cudaErrorInvalidMemcpyDirection;
  if (to_device != (device_to != nullptr) || to_device == (device_from != nullptr)) {
    return cudaErrorInvalidValue;
  }
  Machine& machine = TheMachine();
  bool pinned = false;
  const cudaError_t code = FindPinned(to_device ? from : to, bytes, pinned);
  if (code != cudaSuccess) return code;
  ++(pinned ? machine.pinned_copies : machine.pageable_copies);
  if (!to_device) machine.bytes_to_host += bytes;
  void* real_to = to_device ? device_to : to;
  const void* real_from = to_device ? from : device_from;
  stream->Add([=] { std::memcpy(real_to, real_from, bytes); });
  return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void* device, int value, std::size_t bytes, cudaStream_t stream) {
  if (bytes == 0) return cudaSuccess;
  void* real = RingsideDeviceBytes(device, bytes);
  if (stream == nullptr || real == nullptr) return cudaErrorInvalidValue;
  stream->Add([=] { std::memset(real, value, bytes); });
  return cudaSuccess;
}

cudaError_t cudaMallocHost(void** host, std::size_t bytes) {
  if (::posix_memalign(host, 4096, bytes) != 0) return cudaErrorMemoryAllocation;
  std::memset(*host, 0xA5, bytes);
  return cudaHostRegister(*host, bytes, 0);
}

cudaError_t cudaFreeHost(void* host) {
  if (host == nullptr) return cudaSuccess;
  const cudaError_t code = cudaHostUnregister(host);
  if (code == cudaSuccess) std::free(host);
  return code;
}

/// The errors of the stand-in are not kept.
cudaError_t cudaGetLastError() { return cudaSuccess; }

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* data) {
  if (stream == nullptr) return cudaErrorInvalidResourceHandle;
  ++TheMachine().host_functions;
  stream->Add([=] { function(data); });
  return cudaSuccess;
}

const char* cudaGetErrorString(cudaError_t code) {
  switch (code) {
    case cudaSuccess:
      return "no error";
    case cudaErrorNoDevice:
      return "no CUDA-capable device is detected";
    case cudaErrorInsufficientDriver:
      return "CUDA driver version is insufficient for CUDA runtime version";
    case cudaErrorInvalidDevice:
      return "invalid device ordinal";
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorNotReady:
      return "device not ready";
    default:
      return "an error of the stand-in for CUDA";
  }
}
}

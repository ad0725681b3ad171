// A stand-in for libnccl: the functions of it that Ringside calls, over the stand-in for CUDA.
// Ranks are processes of one machine. They sum in rank order, so all have the same bits. It is as
// strict as NCCL where a mistake would show on GPUs alone:
// - A communicator that does not block is not ready at once, and neither is an operation. What the
//   caller puts on the stream before the operation is accepted comes before it. (Calls of one that
//   blocks, as the peer in benchmarks/ has, wait for that.)
// - Two ranks of a host may not have the same GPU. NCCL_HOSTID makes hosts.
// - Buffers are device memory of their whole length; NCCL_ALGO must pin an algorithm.
//
// Environment: RINGSIDE_STAND_IN_FAULT=KIND:RANK:NUMBER: the operation with this number, from 1, of
// a rank never ends (`hang`), or fails (`fail`).
#include <cuda_runtime.h>
#include <fcntl.h>
#include <nccl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "tests/gpu/device_memory.h"

namespace {

constexpr int kMostRanks = 64;
constexpr std::size_t kSlotBytes = std::size_t{1} << 18;
constexpr std::chrono::microseconds kPause{50};
constexpr int kLooksUntilAccepted = 3;

/// What the ranks of a communicator share. The memory is that of an anonymous file, which goes with
/// the processes.
struct Shared {
  std::atomic<int> joined;
  std::atomic<int> arrived;
  std::atomic<std::uint64_t> round;
  std::atomic<std::uint64_t> gpus[kMostRanks];  // a number for each GPU of each host; 0: not joined
  alignas(4096) std::byte slots[kMostRanks][kSlotBytes];
};

/// A number that two ranks share if they have the same GPU.
std::uint64_t GpuNumber() {
  const char* host = std::getenv("NCCL_HOSTID");
  const std::string text = std::string(host == nullptr ? "this host" : host) + "/" +
                           std::to_string(RingsideCurrentDevice());
  return std::hash<std::string>()(text) | 1;
}

/// Whether `RINGSIDE_STAND_IN_FAULT` names this operation.
bool IsFault(const char* kind, int rank, std::uint64_t number) {
  const char* fault = std::getenv("RINGSIDE_STAND_IN_FAULT");
  return fault != nullptr &&
         std::string(kind) + ":" + std::to_string(rank) + ":" + std::to_string(number) == fault;
}

class Communicator {
 public:
  Communicator(Shared* shared, int rank, int ranks, bool blocking)
      : shared_(shared), rank_(rank), ranks_(ranks), blocking_(blocking), gpu_(GpuNumber()) {
    join_ = std::thread([this] { Join(); });
  }
  ~Communicator() { ::munmap(shared_, sizeof(Shared)); }
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  void Abort() {
    aborted_ = true;
    if (join_.joinable()) join_.join();
  }

  /// The operation begins on the stream when it is accepted, which `State` decides.
  void Begin(cudaStream_t stream, std::function<void()> operation) {
    ++number_;
    pending_ = std::move(operation);
    stream_ = stream;
    looks_ = 0;
    if (IsFault("fail", rank_, number_)) state_ = ncclSystemError;
  }

  ncclResult_t State(const std::shared_ptr<Communicator>& self) {
    const ncclResult_t state = state_;
    if (state != ncclSuccess || !pending_) return state;
    if (++looks_ < kLooksUntilAccepted) return ncclInProgress;
    struct Launch {
      std::shared_ptr<Communicator> communicator;
      std::function<void()> operation;
    };
    auto launch = std::make_unique<Launch>(self, std::move(pending_));
    pending_ = nullptr;
    const auto run = [](void* data) {
      const std::unique_ptr<Launch> mine(static_cast<Launch*>(data));
      mine->operation();
    };
    if (cudaLaunchHostFunc(stream_, run, launch.get()) != cudaSuccess)
      return ncclUnhandledCudaError;
    static_cast<void>(launch.release());  // `run` has it
    return ncclSuccess;
  }

  /// Calls `combine` for every part of `bytes` bytes when `mine` of every rank is in its slot.
  void Exchange(const std::byte* mine, std::size_t bytes,
                const std::function<void(std::size_t begin, std::size_t size)>& combine) {
    if (IsFault("hang", rank_, number_)) {
      while (!aborted_) std::this_thread::sleep_for(kPause);
    }
    for (std::size_t begin = 0; begin < bytes; begin += kSlotBytes) {
      const std::size_t size = std::min(kSlotBytes, bytes - begin);
      if (mine != nullptr) std::memcpy(shared_->slots[rank_], mine + begin, size);
      if (!Meet()) return;
      combine(begin, size);
      if (!Meet()) return;
    }
  }

  const std::byte* slot(int rank) const { return shared_->slots[rank]; }
  int rank() const { return rank_; }
  int ranks() const { return ranks_; }
  bool blocking() const { return blocking_; }

 private:
  void Join() {
    shared_->gpus[rank_] = gpu_;
    ++shared_->joined;
    while (shared_->joined < ranks_) {
      if (aborted_) return;
      std::this_thread::sleep_for(kPause);
    }
    for (int other = 0; other < ranks_; ++other) {
      if (other != rank_ && shared_->gpus[other] == gpu_) {
        state_ = ncclInvalidUsage;
        return;
      }
    }
    state_ = ncclSuccess;
  }

  /// A barrier; false if this rank has given up.
  bool Meet() {
    const std::uint64_t round = shared_->round;
    if (++shared_->arrived == ranks_) {
      shared_->arrived = 0;
      ++shared_->round;
      return true;
    }
    while (shared_->round == round) {
      if (aborted_) return false;
      std::this_thread::sleep_for(kPause);
    }
    return true;
  }

  Shared* const shared_;
  const int rank_;
  const int ranks_;
  const bool blocking_;
  const std::uint64_t gpu_;
  std::atomic<ncclResult_t> state_ = ncclInProgress;
  std::atomic<bool> aborted_ = false;
  std::thread join_;
  // Of the thread that calls NCCL.
  std::uint64_t number_ = 0;
  std::function<void()> pending_;
  cudaStream_t stream_ = nullptr;
  int looks_ = 0;
};

/// What a call returns. One of a communicator that blocks waits until its operation is accepted.
ncclResult_t Accepted(const std::shared_ptr<Communicator>& all) {
  if (!all->blocking()) return ncclInProgress;
  ncclResult_t state = ncclInProgress;
  while ((state = all->State(all)) == ncclInProgress) std::this_thread::sleep_for(kPause);
  return state;
}

std::size_t BytesOf(ncclDataType_t type) { return type == ncclFloat32 ? sizeof(float) : 1; }

}  // namespace

struct ncclComm {
  std::shared_ptr<Communicator> communicator;
};

extern "C" {

ncclResult_t ncclGetUniqueId(ncclUniqueId* id) {
  const int file = ::memfd_create("nccl-stand-in", MFD_CLOEXEC);
  if (file < 0 || ::ftruncate(file, sizeof(Shared)) != 0) return ncclSystemError;
  std::memset(id->internal, 0, sizeof(id->internal));
  // The file stays open, so that the others find it.
  std::snprintf(id->internal, sizeof(id->internal), "/proc/%d/fd/%d", ::getpid(), file);
  return ncclSuccess;
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t* made, int ranks, ncclUniqueId id, int rank,
                                    ncclConfig_t* config) {
  *made = nullptr;
  const char* algorithm = std::getenv("NCCL_ALGO");
  if (ranks > kMostRanks || algorithm == nullptr ||
      (std::strcmp(algorithm, "allreduce:ring") != 0 &&
       std::strcmp(algorithm, "allreduce:tree") != 0)) {
    return ncclInvalidArgument;
  }
  const int file = ::open(id.internal, O_RDWR | O_CLOEXEC);
  if (file < 0) return ncclSystemError;
  void* memory = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  if (memory == MAP_FAILED) return ncclSystemError;
  *made = new ncclComm{std::make_shared<Communicator>(static_cast<Shared*>(memory), rank, ranks,
                                                      config->blocking != 0)};
  return Accepted((*made)->communicator);
}

ncclResult_t ncclCommInitRank(ncclComm_t* made, int ranks, ncclUniqueId id, int rank) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 1;
  return ncclCommInitRankConfig(made, ranks, id, rank, &config);
}

ncclResult_t ncclCommDestroy(ncclComm_t comm) { return ncclCommAbort(comm); }

ncclResult_t ncclGetVersion(int* version) {
  *version = NCCL_VERSION_CODE;
  return ncclSuccess;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t comm, ncclResult_t* state) {
  *state = comm->communicator->State(comm->communicator);
  return ncclSuccess;
}

ncclResult_t ncclCommAbort(ncclComm_t comm) {
  comm->communicator->Abort();
  delete comm;
  return ncclSuccess;
}

ncclResult_t ncclAllReduce(const void* from, void* to, std::size_t count, ncclDataType_t type,
                           ncclRedOp_t operation, ncclComm_t comm, cudaStream_t stream) {
  const std::size_t bytes = count * BytesOf(type);
  const auto* mine = static_cast<const std::byte*>(RingsideDeviceBytes(from, bytes));
  auto* sums = static_cast<std::byte*>(RingsideDeviceBytes(to, bytes));
  if (type != ncclFloat32 || operation != ncclSum || mine == nullptr || sums == nullptr) {
    return ncclInvalidArgument;
  }
  Communicator* const all = comm->communicator.get();
  all->Begin(stream, [=] {
    all->Exchange(mine, bytes, [=](std::size_t begin, std::size_t size) {
      auto* out = reinterpret_cast<float*>(sums + begin);
      for (std::size_t i = 0; i < size / sizeof(float); ++i) {
        float sum = 0;
        for (int rank = 0; rank < all->ranks(); ++rank) {
          sum += reinterpret_cast<const float*>(all->slot(rank))[i];
        }
        out[i] = sum;
      }
    });
  });
  return Accepted(comm->communicator);
}

ncclResult_t ncclBroadcast(const void* from, void* to, std::size_t count, ncclDataType_t type,
                           int root, ncclComm_t comm, cudaStream_t stream) {
  const std::size_t bytes = count * BytesOf(type);
  const auto* mine = static_cast<const std::byte*>(RingsideDeviceBytes(from, bytes));
  auto* result = static_cast<std::byte*>(RingsideDeviceBytes(to, bytes));
  if (mine == nullptr || result == nullptr) return ncclInvalidArgument;
  Communicator* const all = comm->communicator.get();
  all->Begin(stream, [=] {
    all->Exchange(all->rank() == root ? mine : nullptr, bytes,
                  [=](std::size_t begin, std::size_t size) {
                    std::memcpy(result + begin, all->slot(root), size);
                  });
  });
  return Accepted(comm->communicator);
}

ncclResult_t ncclAllGather(const void* from, void* to, std::size_t count, ncclDataType_t type,
                           ncclComm_t comm, cudaStream_t stream) {
  const std::size_t block = count * BytesOf(type);
  Communicator* const all = comm->communicator.get();
  const auto* mine = static_cast<const std::byte*>(RingsideDeviceBytes(from, block));
  auto* result = static_cast<std::byte*>(
      RingsideDeviceBytes(to, block * static_cast<std::size_t>(all->ranks())));
  if (mine == nullptr || result == nullptr) return ncclInvalidArgument;
  all->Begin(stream, [=] {
    all->Exchange(mine, block, [=](std::size_t begin, std::size_t size) {
      for (int rank = 0; rank < all->ranks(); ++rank) {
        std::memcpy(result + static_cast<std::size_t>(rank) * block + begin, all->slot(rank), size);
      }
    });
  });
  return Accepted(comm->communicator);
}

const char* ncclGetErrorString(ncclResult_t code) {
  switch (code) {
    case ncclSuccess:
      return "no error";
    case ncclSystemError:
      return "unhandled system error";
    case ncclInvalidUsage:
      return "invalid usage: two ranks of a host have the same GPU";
    case ncclInvalidArgument:
      return "invalid argument";
    case ncclInProgress:
      return "NCCL operation in progress";
    default:
      return "an error of the stand-in for NCCL";
  }
}
}

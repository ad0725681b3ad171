// Times NCCL's all-reduce alone, on vectors in GPU memory. The peer of scripts/gpu_check.py.
//
// The method is that of all_reduce_perf in NVIDIA's nccl-tests 2.19.6 (src/common.cu: TimeTest,
// BenchTime, startColl, testStreamSynchronize; src/all_reduce.cu; doc/PERFORMANCE.md), so that its
// figures can be compared with those that others have published. The code is our own. Steps:
// 1. Warm-up: w operations of each size, then one wait.
// 2. For each size, out of place and in place: one operation and a wait; a barrier; n operations
//    that are put on a stream one behind the other; one wait. The time of an operation is that of
//    all n, divided by n, as a mean over the ranks.
// 3. One operation on fresh data, whose sums are checked.
// With --blocking 1 every operation is waited for, and a barrier follows it; the time includes
// both. With --blocking 2 there is no barrier. Where sizes differ, operations of the smaller ones
// go round the buffer. algbw = size / time; busbw = algbw * 2(N-1)/N.
//
// Two things differ. Sizes are listed, so they are warmed up alone, without the powers of two
// between them. And values are small integers instead of random bits: a sum is exact in any order.
//
// usage: nccl-peer --ranks N --bytes B[,B...] [--iterations n[,n...]] [--warmup w]
//                  [--blocking 0|1|2[,...]] [--in-place] [--share-gpu] [--algorithm ring|tree]
//                  [--timeout SECONDS]
//   --iterations  20, or one number for each size        --warmup    1
//   --blocking    0; a list measures all of them; 1 if no value follows
//   --in-place    in place alone                         --timeout   of the whole program, 300
//   --share-gpu   rank r has GPU r % GPUs, and counts as a host; otherwise it has GPU r
// Prints one JSON object. Exit code: 0, 1 failed, 2 usage, 4 too few GPUs.
#include <cuda_runtime.h>
#include <fmt/format.h>
#include <nccl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <iterator>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "benchmarks/peers/forked_ranks.h"
#include "benchmarks/peers/nccl_peer_settings.h"
#include "ringside/common/strategy/gpu_count.h"
#include "ringside/ring/backends/nccl_settings.h"

namespace ringside {
namespace {

struct NoGpuError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

void Check(cudaError_t code) {
  if (code != cudaSuccess) throw std::runtime_error(cudaGetErrorString(code));
}
void Check(ncclResult_t code) {
  if (code != ncclSuccess) throw std::runtime_error(ncclGetErrorString(code));
}

/// What the ranks share beside the barrier: memory of processes that are forked later.
struct Shared {
  ncclUniqueId id;
  double seconds[kMostNcclPeerRanks];
  std::size_t wrong[kMostNcclPeerRanks];
};

Shared* MakeShared() {
  void* memory =
      ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::runtime_error("no shared memory");
  return static_cast<Shared*>(memory);
}

/// Two vectors in the memory of a rank's GPU, with a stream and a communicator that blocks.
class Device {
 public:
  Device(const NcclPeerSettings& settings, int rank, Shared& shared, ForkedRanks& all) {
    SelectGpu(settings, rank);
    if (settings.share_gpu) {
      for (const auto& [name, value] : SharedGpuSettings(rank)) {
        ::setenv(name.c_str(), value.c_str(), 1);
      }
    }
    // As in our own workers, which listen on this address. What the user has set stays.
    ::setenv("NCCL_SOCKET_IFNAME", NcclInterface("127.0.0.1").c_str(), 0);
    ::setenv("NCCL_ALGO", NcclAlgorithmSetting(settings.algorithm), 1);
    Check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    for (float** vector : {&send_, &receive_}) {
      Check(cudaMalloc(reinterpret_cast<void**>(vector), settings.MostBytes()));
    }
    if (rank == 0) Check(ncclGetUniqueId(&shared.id));
    all.Barrier();
    Check(ncclCommInitRank(&communicator_, settings.ranks, shared.id, rank));
  }
  ~Device() {
    ncclCommDestroy(communicator_);
    cudaFree(send_);
    cudaFree(receive_);
    cudaStreamDestroy(stream_);
  }
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  /// Puts a sum of `count` elements on the stream, `shift` elements behind the vectors' begin.
  void Start(std::size_t count, std::size_t shift, bool in_place) const {
    const float* from = (in_place ? receive_ : send_) + shift;
    Check(
        ncclAllReduce(from, receive_ + shift, count, ncclFloat32, ncclSum, communicator_, stream_));
  }

  /// Waits until the stream is empty. Looks at it without a pause and asks NCCL for errors, as
  /// nccl-tests does. The alarm of the program is the deadline.
  void Wait() const {
    for (cudaError_t state; (state = cudaStreamQuery(stream_)) != cudaSuccess;) {
      if (state != cudaErrorNotReady) Check(state);
      ncclResult_t error = ncclSuccess;
      Check(ncclCommGetAsyncError(communicator_, &error));
      Check(error);
      std::this_thread::yield();
    }
  }

  void WriteInput(std::span<const float> values, bool in_place) const {
    Check(cudaMemcpyAsync(in_place ? receive_ : send_, values.data(), values.size_bytes(),
                          cudaMemcpyHostToDevice, stream_));
    Wait();
  }
  void ReadSums(std::span<float> values) const {
    Check(cudaMemcpyAsync(values.data(), receive_, values.size_bytes(), cudaMemcpyDeviceToHost,
                          stream_));
    Wait();
  }

 private:
  static void SelectGpu(const NcclPeerSettings& settings, int rank) {
    GpuCount count;
    const cudaError_t code = cudaGetDeviceCount(&count.gpus);
    if (code != cudaSuccess) count.error = cudaGetErrorString(code);
    Check(cudaDriverGetVersion(&count.driver_version));
    Check(cudaRuntimeGetVersion(&count.runtime_version));
    std::string reason = WhyNoGpu(count);
    if (reason.empty() && !settings.share_gpu) reason = TooFewDevices(settings.ranks, count.gpus);
    if (!reason.empty()) throw NoGpuError(reason);
    Check(cudaSetDevice(rank % count.gpus));
  }

  cudaStream_t stream_ = nullptr;
  float* send_ = nullptr;
  float* receive_ = nullptr;
  ncclComm_t communicator_ = nullptr;
};

/// The figures of a size in one mode.
struct Row {
  std::size_t bytes = 0;
  std::size_t iterations = 0;
  std::size_t blocking = 0;
  bool in_place = false;
  double mean_s = 0;  // over ranks
  double slowest_s = 0;
  std::size_t wrong = 0;  // of all ranks
};

class Measurement {
 public:
  Measurement(const NcclPeerSettings& settings, int rank, Shared& shared, ForkedRanks& all)
      : settings_(settings),
        rank_(rank),
        shared_(shared),
        all_(all),
        device_(settings, rank, shared, all) {}

  std::vector<Row> Run() {
    WarmUp();
    std::vector<Row> rows;
    for (std::size_t i = 0; i < settings_.bytes.size(); ++i) {
      for (const std::size_t blocking : settings_.blocking) {
        for (const bool in_place : {false, true}) {
          if (settings_.in_place_alone && !in_place) continue;
          rows.push_back(MeasureRow({.bytes = settings_.bytes[i] / sizeof(float) * sizeof(float),
                                     .iterations = settings_.IterationsOf(i),
                                     .blocking = blocking,
                                     .in_place = in_place}));
        }
      }
    }
    all_.Barrier();  // nobody leaves while another one still needs the communicator
    return rows;
  }

 private:
  void WarmUp() {
    for (const std::size_t bytes : settings_.bytes) {
      Input(bytes / sizeof(float), settings_.in_place_alone);
      for (int i = 0; i < settings_.warmup; ++i) {
        device_.Start(bytes / sizeof(float), 0, settings_.in_place_alone);
      }
      device_.Wait();
    }
    all_.Barrier();
  }

  Row MeasureRow(Row row) {
    const std::size_t count = row.bytes / sizeof(float);
    Input(count, row.in_place);
    Operate(row, 0);
    device_.Wait();
    all_.Barrier();
    using Clock = std::chrono::steady_clock;
    const Clock::time_point begin = Clock::now();
    for (std::size_t i = 0; i < row.iterations; ++i) Operate(row, i);
    device_.Wait();
    const std::chrono::duration<double> elapsed = Clock::now() - begin;
    shared_.seconds[rank_] = elapsed.count() / static_cast<double>(row.iterations);
    Verify(row);
    Collect(row);
    return row;
  }

  void Operate(const Row& row, std::size_t iteration) {
    const std::size_t places = settings_.MostBytes() / row.bytes;
    device_.Start(row.bytes / sizeof(float), row.bytes / sizeof(float) * (iteration % places),
                  row.in_place);
    if (row.blocking != 0) device_.Wait();
    if (row.blocking == 1) all_.Barrier();
  }

  /// Element i of rank r is i % 61 + r, so every rank knows the sum.
  void Input(std::size_t count, bool in_place) {
    host_.resize(count);
    for (std::size_t i = 0; i < count; ++i) host_[i] = static_cast<float>(i % kPeriod + Rank());
    device_.WriteInput(host_, in_place);
  }

  void Verify(const Row& row) {
    Input(row.bytes / sizeof(float), row.in_place);
    device_.Start(host_.size(), 0, row.in_place);
    device_.Wait();
    device_.ReadSums(host_);
    const auto ranks = static_cast<std::size_t>(settings_.ranks);
    const std::size_t of_ranks = ranks * (ranks - 1) / 2;
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < host_.size(); ++i) {
      if (host_[i] != static_cast<float>(i % kPeriod * ranks + of_ranks)) ++wrong;
    }
    shared_.wrong[rank_] = wrong;
  }

  /// Puts the figures of all ranks into `row`.
  void Collect(Row& row) {
    all_.Barrier();
    for (int rank = 0; rank < settings_.ranks; ++rank) {
      row.mean_s += shared_.seconds[rank] / settings_.ranks;
      row.slowest_s = std::max(row.slowest_s, shared_.seconds[rank]);
      row.wrong += shared_.wrong[rank];
    }
    all_.Barrier();
  }

  std::size_t Rank() const { return static_cast<std::size_t>(rank_); }

  static constexpr std::size_t kPeriod = 61;

  const NcclPeerSettings& settings_;
  const int rank_;
  Shared& shared_;
  ForkedRanks& all_;
  Device device_;
  std::vector<float> host_;
};

void Print(const NcclPeerSettings& settings, std::span<const Row> rows) {
  int nccl = 0;
  Check(ncclGetVersion(&nccl));
  std::string out = fmt::format(
      R"({{"schema":"ringside.nccl-peer/1","ranks":{},"share_gpu":{},"algorithm":"{}","warmup":{},)"
      R"("nccl":{},"rows":[)",
      settings.ranks, settings.share_gpu,
      settings.algorithm == NcclAlgorithm::kTree ? "tree" : "ring", settings.warmup, nccl);
  for (const Row& row : rows) {
    const double algbw = static_cast<double>(row.bytes) / row.mean_s / 1e9;
    fmt::format_to(std::back_inserter(out),
                   R"({}{{"bytes":{},"iterations":{},"blocking":{},"in_place":{},"time_us":{:.3f},)"
                   R"("slowest_us":{:.3f},"algbw_GBps":{:.6f},"busbw_GBps":{:.6f},"wrong":{}}})",
                   out.ends_with('[') ? "" : ",", row.bytes, row.iterations, row.blocking,
                   row.in_place, row.mean_s * 1e6, row.slowest_s * 1e6, algbw,
                   algbw * 2 * (settings.ranks - 1) / settings.ranks, row.wrong);
  }
  fmt::print("{}]}}\n", out);
}

/// Ends a rank that waits for one that hangs. With rank 0 all ranks end.
void OnAlarm(int /*signal*/) {
  constexpr std::string_view kMessage = "nccl-peer: it took longer than its --timeout\n";
  static_cast<void>(::write(STDERR_FILENO, kMessage.data(), kMessage.size()) == 0);
  ::_exit(1);
}

/// Ends rank 0, and so all ranks, when another rank has failed and can reach no barrier any more.
void OnChild(int /*signal*/) {
  int status = 0;
  while (::waitpid(-1, &status, WNOHANG) > 0) {
    if (status != 0) ::_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
  }
}

int Measure(const NcclPeerSettings& settings, int rank, Shared& shared, ForkedRanks& all) {
  try {
    Measurement measurement(settings, rank, shared, all);
    const std::vector<Row> rows = measurement.Run();
    if (rank == 0) Print(settings, rows);
    return 0;
  } catch (const NoGpuError& error) {
    // All ranks have found the same.
    if (rank == 0) fmt::print(stderr, "nccl-peer: {}\n", error.what());
    ::signal(SIGCHLD, SIG_DFL);
    all.Barrier();
    return 4;
  } catch (const std::exception& error) {
    fmt::print(stderr, "nccl-peer: rank {}: {}\n", rank, error.what());
    return 1;
  }
}

int Main(int argc, char** argv) {
  const NcclPeerSettings settings = ReadNcclPeerSettings(argc, argv);
  Shared* shared = MakeShared();
  // CUDA does not survive a fork, so nothing calls it before.
  ForkedRanks all(settings.ranks, 0);
  ::signal(SIGCHLD, OnChild);
  const pid_t parent = ::getpid();
  const int rank = all.Fork();
  // Rank 0 was gone before this rank asked to die with it.
  if (rank != 0 && ::getppid() != parent) ::_exit(1);
  ::signal(SIGALRM, OnAlarm);
  ::alarm(settings.timeout_s);
  const int code = Measure(settings, rank, *shared, all);
  if (code == 1) ::_exit(1);  // the others may wait for this rank
  const bool well = all.Join();
  return code != 0 || well ? code : 1;
}

}  // namespace
}  // namespace ringside

int main(int argc, char** argv) {
  try {
    return ringside::Main(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "nccl-peer: {}\n", error.what());
    return 2;
  }
}

// Push and pull of one step: ps-sync beside a plain gRPC service with Protocol Buffer payloads, in
// interleaved rounds of one job, every worker and server a process of its own, on loopback.
//
// One JSON line a contender, the last with the ratio. `ms`: from the moment when all workers start
// to the moment when the last has all parameters. `cpu_ms`: of all processes together. `copied`:
// payload bytes that our own code has moved, per byte received (the kernel and gRPC not counted).
//
// usage: push_pull_benchmark [workers=2] [servers=1] [mib=64] [bucket_mib=4] [rounds=15]
//                            [only=ringside|bytes]
#include <fmt/format.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "benchmarks/directory_store.h"
#include "benchmarks/peers/bytes_push_pull.h"
#include "common/allocator.h"
#include "common/bucket.h"
#include "paramserver/consistency.h"
#include "paramserver/ps_server.h"
#include "paramserver/ps_strategy.h"

namespace ringside {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kWarmUp = 3;
constexpr int kMaxProcesses = 64;

struct Options {
  int workers = 2;
  int servers = 1;
  std::size_t mib = 64;
  std::size_t bucket_mib = 4;
  int rounds = 15;
  std::string only;

  std::size_t elements() const { return (mib << 20) / sizeof(float); }
  std::size_t bucket_elements() const { return (bucket_mib << 20) / sizeof(float); }
};

/// What the processes share, in memory of its own.
struct Shared {
  pthread_barrier_t barrier;  // of the workers
  std::array<double, kMaxProcesses> finished_ms;
};

struct Sample {
  double ms = 0;
  double cpu_ms = 0;
};

Options Parse(int argc, char** argv) {
  std::map<std::string, std::string> given;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    const std::size_t equals = argument.find('=');
    given[argument.substr(0, equals)] = argument.substr(equals + 1);
  }
  Options options;
  const auto number = [&](const char* key, auto& value) {
    if (given.contains(key)) value = static_cast<std::decay_t<decltype(value)>>(stoul(given[key]));
  };
  number("workers", options.workers);
  number("servers", options.servers);
  number("mib", options.mib);
  number("bucket_mib", options.bucket_mib);
  number("rounds", options.rounds);
  options.only = given["only"];
  return options;
}

double Milliseconds(Clock::duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

double CpuMilliseconds(const std::vector<pid_t>& processes) {
  double total = 0;
  for (const pid_t process : processes) {
    clockid_t clock{};
    timespec time{};
    if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &time) != 0) continue;
    total += static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) * 1e-6;
  }
  return total;
}

double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

std::vector<double> Column(const std::vector<Sample>& samples, double Sample::*field) {
  std::vector<double> values;
  for (const Sample& sample : samples) values.push_back(sample.*field);
  return values;
}

/// One worker process: both contenders in turn, round by round.
class Worker {
 public:
  Worker(const Options& options, int rank, DirectoryStore& store, Shared& shared,
         const std::vector<pid_t>& servers)
      : options_(options), rank_(rank), store_(store), shared_(shared), processes_(servers) {
    store_.Set("pid/" + std::to_string(rank), std::to_string(getpid()));
    for (int other = 0; other < options.workers; ++other) {
      processes_.push_back(
          std::stoi(store_.Get("pid/" + std::to_string(other), Deadline::After(comm_.timeout))));
    }
  }

  void Run() {
    const World world{.rank = rank_, .workers = options_.workers, .servers = options_.servers};
    const std::vector<TensorSpec> tensors{{"all", options_.elements()}};
    const std::size_t target = options_.bucket_mib << 20;
    const BucketPlan plan(tensors, {target, target});
    FlatSpace space(options_.elements());
    std::ranges::fill(space.grads(), 1.0F);
    const auto optimizer = Optimizer::Make({}, options_.elements());
    const Schedule schedule({.base = 1.0});
    Recorder recorder(0);
    Timeline timeline;
    PsStrategy strategy({world, store_, comm_, *optimizer, schedule, recorder, timeline});
    strategy.Start(space, plan, {});
    const CopyCount start = strategy.copies();
    BytesWorker bytes(rank_, store_.Get("bytes", Deadline::After(comm_.timeout)));
    std::int64_t step = 0;
    std::vector<Sample> ours, theirs;
    for (int round = 0; round < kWarmUp + options_.rounds; ++round) {
      if (options_.only != "bytes") {
        ours.push_back(Time([&] { Step(strategy, space, plan, step++); }));
      }
      if (options_.only != "ringside") {
        theirs.push_back(
            Time([&] { bytes.Step(space.grads(), space.params(), options_.bucket_elements()); }));
      }
    }
    const std::uint64_t moved = strategy.copies().total() - start.total();
    strategy.Stop();
    if (rank_ != 0) return;
    const double received = static_cast<double>(step) * static_cast<double>(options_.mib << 20);
    Print("ringside", ours, static_cast<double>(moved) / received);
    Print("bytes", theirs, 0);
    if (!ours.empty() && !theirs.empty()) PrintRatio(ours, theirs);
  }

 private:
  static void Step(Strategy& strategy, FlatSpace& space, const BucketPlan& plan,
                   std::int64_t step) {
    for (int b = 0; b < plan.buckets(); ++b) strategy.Submit(MakeBucket(space, plan, b, step));
    for (int b = 0; b < plan.buckets(); ++b) strategy.Await(MakeBucket(space, plan, b, step));
  }

  void Barrier() { pthread_barrier_wait(&shared_.barrier); }

  Sample Time(const std::function<void()>& step) {
    Barrier();
    const double cpu = CpuMilliseconds(processes_);
    Barrier();
    const auto begin = Clock::now();
    step();
    shared_.finished_ms[static_cast<std::size_t>(rank_)] = Milliseconds(Clock::now() - begin);
    Barrier();
    const auto* first = shared_.finished_ms.begin();
    return {*std::max_element(first, first + options_.workers), CpuMilliseconds(processes_) - cpu};
  }

  void Print(const char* name, std::vector<Sample> samples, double copied) const {
    if (samples.empty()) return;
    samples.erase(samples.begin(), samples.begin() + kWarmUp);
    const std::vector<double> ms = Column(samples, &Sample::ms);
    fmt::print(
        "{{\"contender\":\"{}\",\"workers\":{},\"servers\":{},\"bytes\":{},\"bucket_bytes\":{},"
        "\"rounds\":{},\"ms\":{:.1f},\"min_ms\":{:.1f},\"max_ms\":{:.1f},\"cpu_ms\":{:.1f}{}}}\n",
        name, options_.workers, options_.servers, options_.mib << 20, options_.bucket_mib << 20,
        samples.size(), Median(ms), *std::ranges::min_element(ms), *std::ranges::max_element(ms),
        Median(Column(samples, &Sample::cpu_ms)),
        copied > 0 ? fmt::format(",\"copied_by_worker\":{:.3f}", copied) : "");
  }

  static void PrintRatio(const std::vector<Sample>& ours, const std::vector<Sample>& theirs) {
    std::vector<double> wall, cpu;
    for (std::size_t i = kWarmUp; i < ours.size(); ++i) {
      wall.push_back(ours[i].ms / theirs[i].ms);
      cpu.push_back(ours[i].cpu_ms / theirs[i].cpu_ms);
    }
    fmt::print("{{\"ratio\":{:.3f},\"cpu_ratio\":{:.3f},\"of\":\"ringside/bytes\"}}\n",
               Median(wall), Median(cpu));
  }

  const Options& options_;
  const int rank_;
  DirectoryStore& store_;
  Shared& shared_;
  std::vector<pid_t> processes_;
  CommOptions comm_{};
};

/// Serves until a line on `done` (any byte, or its end).
void RunServer(const Options& options, int index, DirectoryStore& store, int done) {
  const CommOptions comm;
  const Schedule schedule({.base = 1.0});
  const OptimizerOptions sgd;
  Timeline timeline;
  PsServer server({.index = index,
                   .servers = options.servers,
                   .workers = options.workers,
                   .store = store,
                   .comm = comm,
                   .optimizer = sgd,
                   .schedule = schedule,
                   .timeline = timeline},
                  [&] { return MakeSynchronous(options.workers, schedule); });
  char byte = 0;
  [[maybe_unused]] const auto got = read(done, &byte, 1);
  const ServerReport report = server.Stop();
  const double load = static_cast<double>(options.mib << 20) / options.servers;
  const CopyCount copies = server.counters().copies;
  fmt::print(
      "{{\"server\":{},\"copied_by_server\":{:.3f}}}\n", index,
      (static_cast<double>(copies.total()) - load) / static_cast<double>(report.bytes_received));
}

void RunBytesServer(const Options& options, DirectoryStore& store, int done) {
  const BytesServer server(options.workers, options.elements(), options.bucket_elements());
  store.Set("bytes", server.endpoint());
  char byte = 0;
  [[maybe_unused]] const auto got = read(done, &byte, 1);
}

pid_t Fork(const std::function<void()>& body) {
  const pid_t child = fork();
  if (child != 0) return child;
  int status = 0;
  try {
    body();
  } catch (const std::exception& error) {
    fmt::print(stderr, "push_pull_benchmark: {}\n", error.what());
    status = 1;
  }
  std::fflush(stdout);
  _exit(status);
}

Shared& MakeShared(int workers) {
  void* memory =
      mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw InternalError("no shared memory");
  auto* shared = new (memory) Shared();
  pthread_barrierattr_t attributes;
  pthread_barrierattr_init(&attributes);
  pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_barrier_init(&shared->barrier, &attributes, static_cast<unsigned>(workers));
  return *shared;
}

/// Forks everything before gRPC is touched; returns 0 when all workers succeed.
int Run(const Options& options) {
  std::string pattern = std::filesystem::temp_directory_path() / "push_pull.XXXXXX";
  const std::filesystem::path directory = mkdtemp(pattern.data());
  DirectoryStore store(directory);
  Shared& shared = MakeShared(options.workers);
  std::array<int, 2> done{};
  if (pipe(done.data()) != 0) throw InternalError("no pipe");
  std::vector<pid_t> servers, workers;
  const auto serve = [&](const std::function<void()>& body) {
    servers.push_back(Fork([&] {
      close(done[1]);
      body();
    }));
  };
  for (int i = 0; i < options.servers; ++i) {
    serve([&, i] { RunServer(options, i, store, done[0]); });
  }
  serve([&] { RunBytesServer(options, store, done[0]); });
  for (int rank = 0; rank < options.workers; ++rank) {
    workers.push_back(Fork([&] {
      close(done[1]);
      Worker(options, rank, store, shared, servers).Run();
    }));
  }
  int failed = 0, status = 0;
  for (const pid_t worker : workers) {
    waitpid(worker, &status, 0);
    if (status == 0 || failed > 0) continue;
    failed = 1;  // the others would wait at the barrier
    for (const pid_t other : workers) kill(other, SIGKILL);
  }
  close(done[1]);
  for (const pid_t server : servers) waitpid(server, &status, 0);
  std::filesystem::remove_all(directory);
  return failed;
}

}  // namespace
}  // namespace ringside

int main(int argc, char** argv) {
  ringside::KeepFreedMemory();
  try {
    return ringside::Run(ringside::Parse(argc, argv));
  } catch (const std::exception& error) {
    fmt::print(stderr, "push_pull_benchmark: {}\n", error.what());
    return 2;
  }
}

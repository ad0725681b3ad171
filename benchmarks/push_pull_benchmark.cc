// Push and pull of one step: ps-sync beside a plain gRPC service with Protocol Buffer payloads, in
// interleaved rounds of one job, every worker and server a process of its own, on loopback.
//
// One JSON line a contender, then a last one that compares them. Milliseconds: from the moment when
// all workers start to the moment when the last has all parameters; medians over rounds. `cpu_ms`:
// of all processes together. `copied_by_*`: payload bytes that our own code has moved per payload
// byte received, counted where they are moved (what the kernel and gRPC do is not ours): 1 is the
// receiver's own sum or write, and nothing else.
//
// usage: push_pull_benchmark [--workers 2] [--servers 1] [--mib 64] [--bucket-mib 4] [--rounds 15]
//                            [--only ringside|protobuf]
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
#include <numeric>
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

/// Medians of one contender.
struct Result {
  double ms = 0;
  double cpu_ms = 0;
};

/// What the processes share, in memory of its own.
struct Shared {
  pthread_barrier_t barrier;  // of the workers
  std::array<double, kMaxProcesses> finished_ms;
  std::array<double, kMaxProcesses> moved_by_server, received_by_server;  // bytes
  double copied_by_worker;
  Result ours, theirs;
  double ratio, cpu_ratio;
};

struct Sample {
  double ms = 0;
  double cpu_ms = 0;
};

Options Parse(int argc, char** argv) {
  Options options;
  const std::map<std::string, std::function<void(const std::string&)>> flags{
      {"--workers", [&](const std::string& value) { options.workers = std::stoi(value); }},
      {"--servers", [&](const std::string& value) { options.servers = std::stoi(value); }},
      {"--mib", [&](const std::string& value) { options.mib = std::stoul(value); }},
      {"--bucket-mib", [&](const std::string& value) { options.bucket_mib = std::stoul(value); }},
      {"--rounds", [&](const std::string& value) { options.rounds = std::stoi(value); }},
      {"--only", [&](const std::string& value) { options.only = value; }}};
  for (int i = 1; i < argc; i += 2) {
    const auto flag = flags.find(argv[i]);
    if (flag == flags.end() || i + 1 == argc) {
      throw UsageError(std::string("unknown flag, or one without a value: ") + argv[i]);
    }
    flag->second(argv[i + 1]);
  }
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
      if (options_.only != "protobuf") {
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
    shared_.copied_by_worker =
        static_cast<double>(moved) /
        static_cast<double>(std::max<std::uint64_t>(1, recorder.bytes_received()));
    shared_.ours = Summarise("ringside", ours);
    shared_.theirs = Summarise("protobuf", theirs);
    if (ours.empty() || theirs.empty()) return;
    shared_.ratio = MedianRatio(ours, theirs, &Sample::ms);
    shared_.cpu_ratio = MedianRatio(ours, theirs, &Sample::cpu_ms);
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

  Result Summarise(const char* name, std::vector<Sample> samples) const {
    if (samples.empty()) return {};
    samples.erase(samples.begin(), samples.begin() + kWarmUp);
    const std::vector<double> ms = Column(samples, &Sample::ms);
    const Result result{Median(ms), Median(Column(samples, &Sample::cpu_ms))};
    fmt::print(
        "{{\"contender\":\"{}\",\"workers\":{},\"servers\":{},\"bytes\":{},\"bucket_bytes\":{},"
        "\"rounds\":{},\"ms\":{:.1f},\"min_ms\":{:.1f},\"max_ms\":{:.1f},\"cpu_ms\":{:.1f}}}\n",
        name, options_.workers, options_.servers, options_.mib << 20, options_.bucket_mib << 20,
        samples.size(), result.ms, *std::ranges::min_element(ms), *std::ranges::max_element(ms),
        result.cpu_ms);
    return result;
  }

  /// Round by round, so that a slow moment of the machine weighs on both.
  static double MedianRatio(const std::vector<Sample>& ours, const std::vector<Sample>& theirs,
                            double Sample::*field) {
    std::vector<double> ratios;
    for (std::size_t i = kWarmUp; i < ours.size(); ++i) {
      ratios.push_back(ours[i].*field / theirs[i].*field);
    }
    return Median(ratios);
  }

  const Options& options_;
  const int rank_;
  DirectoryStore& store_;
  Shared& shared_;
  std::vector<pid_t> processes_;
  CommOptions comm_{};
};

/// Serves until a line on `done` (any byte, or its end).
void RunServer(const Options& options, int index, DirectoryStore& store, Shared& shared, int done) {
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
  const auto slot = static_cast<std::size_t>(index);
  shared.moved_by_server[slot] = static_cast<double>(server.counters().copies.total());
  shared.received_by_server[slot] = static_cast<double>(report.bytes_received);
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

double Sum(const std::array<double, kMaxProcesses>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

void PrintComparison(const Options& options, const Shared& shared) {
  // The load of the initial parameters is one write of each, before the first round.
  const double moved = Sum(shared.moved_by_server) - static_cast<double>(options.mib << 20);
  const double received = std::max(1.0, Sum(shared.received_by_server));
  fmt::print(
      "{{\"ours_ms\":{:.1f},\"protobuf_ms\":{:.1f},\"ratio\":{:.3f},\"cpu_ratio\":{:.3f},"
      "\"copied_by_worker\":{:.3f},\"copied_by_server\":{:.3f}}}\n",
      shared.ours.ms, shared.theirs.ms, shared.ratio, shared.cpu_ratio, shared.copied_by_worker,
      moved / received);
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
    serve([&, i] { RunServer(options, i, store, shared, done[0]); });
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
  if (failed == 0) PrintComparison(options, shared);
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

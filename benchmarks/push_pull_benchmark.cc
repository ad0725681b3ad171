// Push and pull of one step: ps-sync over each of its transports beside a plain gRPC service with
// Protocol Buffer payloads, in interleaved rounds of one job, every worker and server a process of
// its own, on loopback.
//
// One JSON line a contender, then a last one that compares them, as medians of ratios of one round.
// Milliseconds: from the moment when all workers start to the moment when the last has all
// parameters; medians over rounds. `cpu_ms`: of all processes together. `copied_by_*`: payload
// bytes that our own code has moved over gRPC per payload byte received, counted where they are
// moved (what the kernel and gRPC do is not ours): 1 is the receiver's own sum or write, and
// nothing else.
//
// usage: push_pull_benchmark [--workers 2] [--servers 1] [--mib 64] [--bucket-mib 4] [--rounds 15]
//                            [--transport grpc,uds,shm] [--only ringside|protobuf]
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
#include <deque>
#include <exception>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <sstream>
#include <string>
#include <utility>
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
  std::vector<PsTransport> transports{PsTransport::kGrpc, PsTransport::kUds, PsTransport::kShm};
  std::string only;

  std::size_t elements() const { return (mib << 20) / sizeof(float); }
  std::size_t bucket_elements() const { return (bucket_mib << 20) / sizeof(float); }
};

constexpr std::array<std::pair<const char*, PsTransport>, 3> kTransports{
    {{"grpc", PsTransport::kGrpc}, {"uds", PsTransport::kUds}, {"shm", PsTransport::kShm}}};

const char* NameOf(PsTransport transport) {
  return kTransports[static_cast<std::size_t>(transport)].first;
}

/// What the processes share, in memory of its own.
struct Shared {
  pthread_barrier_t barrier;  // of the workers
  std::array<double, kMaxProcesses> finished_ms;
  std::array<double, kMaxProcesses> moved_by_server, received_by_server;  // bytes, over gRPC
  double copied_by_worker;
  double ours_ms, protobuf_ms, ratio, cpu_ratio;  // ours: gRPC over TCP
  double uds_ratio, shm_ratio;                    // to gRPC over TCP
};

struct Sample {
  double ms = 0;
  double cpu_ms = 0;
};

std::vector<PsTransport> ParseTransports(const std::string& text) {
  std::vector<PsTransport> transports;
  std::istringstream names(text);
  for (std::string name; std::getline(names, name, ',');) {
    const auto found =
        std::ranges::find(kTransports, name, &decltype(kTransports)::value_type::first);
    if (found == kTransports.end()) throw UsageError("no transport is called " + name);
    transports.push_back(found->second);
  }
  return transports;
}

Options Parse(int argc, char** argv) {
  Options options;
  const std::map<std::string, std::function<void(const std::string&)>> flags{
      {"--workers", [&](const std::string& value) { options.workers = std::stoi(value); }},
      {"--servers", [&](const std::string& value) { options.servers = std::stoi(value); }},
      {"--mib", [&](const std::string& value) { options.mib = std::stoul(value); }},
      {"--bucket-mib", [&](const std::string& value) { options.bucket_mib = std::stoul(value); }},
      {"--rounds", [&](const std::string& value) { options.rounds = std::stoi(value); }},
      {"--transport",
       [&](const std::string& value) { options.transports = ParseTransports(value); }},
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

/// One job of ps-sync over one transport, as a worker sees it.
class Job {
 public:
  Job(const Options& options, int rank, PsTransport transport, Store& store)
      : world_{.rank = rank, .workers = options.workers, .servers = options.servers},
        plan_(std::vector<TensorSpec>{{"all", options.elements()}},
              {options.bucket_mib << 20, options.bucket_mib << 20}),
        space_(options.elements()),
        optimizer_(Optimizer::Make({}, options.elements())),
        strategy_(Context(transport, store)) {
    std::ranges::fill(space_.grads(), 1.0F);
    strategy_.Start(space_, plan_, {});
    start_ = strategy_.copies();
  }

  void Step() {
    for (int b = 0; b < plan_.buckets(); ++b) {
      strategy_.Submit(MakeBucket(space_, plan_, b, step_));
    }
    for (int b = 0; b < plan_.buckets(); ++b) strategy_.Await(MakeBucket(space_, plan_, b, step_));
    ++step_;
  }

  void Stop() {
    moved_ = strategy_.copies().total() - start_.total();
    strategy_.Stop();
  }
  FlatSpace& space() { return space_; }
  /// Once stopped: payload bytes moved per payload byte received.
  double copied() const {
    return static_cast<double>(moved_) /
           std::max(1.0, static_cast<double>(recorder_.bytes_received()));
  }

 private:
  StrategyContext Context(PsTransport transport, Store& store) {
    StrategyContext context{world_, store, comm_, *optimizer_, schedule_, recorder_, timeline_};
    context.options.ps_transport = transport;
    return context;
  }

  const World world_;
  const BucketPlan plan_;
  const CommOptions comm_{};
  const Schedule schedule_{{.base = 1.0}};
  FlatSpace space_;
  std::unique_ptr<Optimizer> optimizer_;
  Recorder recorder_{0};
  Timeline timeline_;
  PsStrategy strategy_;
  CopyCount start_;
  std::uint64_t moved_ = 0;
  std::int64_t step_ = 0;
};

/// One worker process: all contenders in turn, round by round.
class Worker {
 public:
  Worker(const Options& options, int rank, const std::filesystem::path& directory, Shared& shared,
         const std::vector<pid_t>& servers)
      : options_(options),
        rank_(rank),
        directory_(directory),
        shared_(shared),
        processes_(servers) {
    DirectoryStore store(directory);
    store.Set("pid/" + std::to_string(rank), std::to_string(getpid()));
    const Deadline deadline = Deadline::After(CommOptions{}.timeout);
    for (int other = 0; other < options.workers; ++other) {
      processes_.push_back(std::stoi(store.Get("pid/" + std::to_string(other), deadline)));
    }
    bytes_ = std::make_unique<BytesWorker>(rank, store.Get("bytes", deadline));
  }

  void Run() {
    if (options_.only != "protobuf") {
      for (const PsTransport transport : options_.transports) AddJob(transport);
    }
    FlatSpace plain(options_.elements());
    std::ranges::fill(plain.grads(), 1.0F);
    if (options_.only != "ringside") {
      contenders_.push_back(
          {"protobuf",
           [&] { bytes_->Step(plain.grads(), plain.params(), options_.bucket_elements()); }});
    }
    for (int round = 0; round < kWarmUp + options_.rounds; ++round) {
      for (Contender& contender : contenders_) contender.samples.push_back(Time(contender.step));
    }
    for (const auto& [name, job] : jobs_) job->Stop();
    if (rank_ != 0) return;
    if (const auto grpc = jobs_.find("grpc"); grpc != jobs_.end()) {
      shared_.copied_by_worker = grpc->second->copied();
    }
    for (Contender& contender : contenders_) Summarise(contender);
    Compare();
  }

 private:
  struct Contender {
    std::string name;
    std::function<void()> step;
    std::vector<Sample> samples{};
  };

  void AddJob(PsTransport transport) {
    const std::string name = NameOf(transport);
    Store& store = stores_.emplace_back(directory_ / name);
    Job& job = *(jobs_[name] = std::make_unique<Job>(options_, rank_, transport, store));
    contenders_.push_back({name, [&job] { job.Step(); }});
  }

  void Compare() const {
    const Contender *grpc = Find("grpc"), *uds = Find("uds"), *shm = Find("shm");
    const Contender* protobuf = Find("protobuf");
    if (grpc != nullptr) shared_.ours_ms = Median(Column(grpc->samples, &Sample::ms));
    if (protobuf != nullptr) shared_.protobuf_ms = Median(Column(protobuf->samples, &Sample::ms));
    shared_.ratio = MedianRatio(grpc, protobuf, &Sample::ms);
    shared_.cpu_ratio = MedianRatio(grpc, protobuf, &Sample::cpu_ms);
    shared_.uds_ratio = MedianRatio(uds, grpc, &Sample::ms);
    shared_.shm_ratio = MedianRatio(shm, grpc, &Sample::ms);
  }

  const Contender* Find(const std::string& name) const {
    const auto found = std::ranges::find(contenders_, name, &Contender::name);
    return found == contenders_.end() ? nullptr : &*found;
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

  void Summarise(Contender& contender) const {
    std::vector<Sample>& samples = contender.samples;
    samples.erase(samples.begin(), samples.begin() + kWarmUp);
    const std::vector<double> ms = Column(samples, &Sample::ms);
    fmt::print(
        "{{\"contender\":\"{}\",\"workers\":{},\"servers\":{},\"bytes\":{},\"bucket_bytes\":{},"
        "\"rounds\":{},\"ms\":{:.1f},\"min_ms\":{:.1f},\"max_ms\":{:.1f},\"cpu_ms\":{:.1f}}}\n",
        contender.name, options_.workers, options_.servers, options_.mib << 20,
        options_.bucket_mib << 20, samples.size(), Median(ms), *std::ranges::min_element(ms),
        *std::ranges::max_element(ms), Median(Column(samples, &Sample::cpu_ms)));
  }

  /// Round by round, so that a slow moment of the machine weighs on both; 0 where one is missing.
  static double MedianRatio(const Contender* one, const Contender* other, double Sample::*field) {
    if (one == nullptr || other == nullptr) return 0;
    std::vector<double> ratios;
    for (std::size_t i = 0; i < one->samples.size(); ++i) {
      ratios.push_back(one->samples[i].*field / other->samples[i].*field);
    }
    return Median(ratios);
  }

  const Options& options_;
  const int rank_;
  const std::filesystem::path directory_;
  Shared& shared_;
  std::vector<pid_t> processes_;
  std::deque<DirectoryStore> stores_;                 // one a job
  std::map<std::string, std::unique_ptr<Job>> jobs_;  // by transport
  std::unique_ptr<BytesWorker> bytes_;
  std::vector<Contender> contenders_;
};

/// Serves until a line on `done` (any byte, or its end).
void RunServer(const Options& options, int index, PsTransport transport, Store& store,
               Shared& shared, int done) {
  const CommOptions comm;
  const Schedule schedule({.base = 1.0});
  const OptimizerOptions sgd;
  Timeline timeline;
  ServerContext context{index, options.servers, options.workers, store, comm,
                        sgd,   schedule,        timeline};
  context.options.ps_transport = transport;
  PsServer server(context, [&] { return MakeSynchronous(options.workers, schedule); });
  char byte = 0;
  [[maybe_unused]] const auto got = read(done, &byte, 1);
  const ServerReport report = server.Stop();
  if (transport != PsTransport::kGrpc) return;
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
      "\"uds_to_grpc\":{:.3f},\"shm_to_grpc\":{:.3f},\"copied_by_worker\":{:.3f},"
      "\"copied_by_server\":{:.3f}}}\n",
      shared.ours_ms, shared.protobuf_ms, shared.ratio, shared.cpu_ratio, shared.uds_ratio,
      shared.shm_ratio, shared.copied_by_worker, moved / received);
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
  for (const PsTransport transport : options.transports) {
    for (int i = 0; i < options.servers; ++i) {
      serve([&, i, transport] {
        DirectoryStore own(directory / NameOf(transport));
        RunServer(options, i, transport, own, shared, done[0]);
      });
    }
  }
  serve([&] { RunBytesServer(options, store, done[0]); });
  for (int rank = 0; rank < options.workers; ++rank) {
    workers.push_back(Fork([&] {
      close(done[1]);
      Worker(options, rank, directory, shared, servers).Run();
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

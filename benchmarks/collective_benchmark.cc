// Time and CPU of one sum over all ranks: our collectives and Gloo alone, in interleaved rounds of
// one job. Prints one JSON line per size and contender. `ratio` is the time over that of Gloo's
// fastest algorithm. In `copy` every rank copies its vector once. That moves 2NM bytes, the least
// that a sum in shared memory needs, and is the bound of `shm`.
//
// usage: collective_benchmark [ranks=2] [bytes=4096,262144,4194304,67108864] [rounds=9]
//                             [contenders=NAME,NAME... (all)] [store=DIR rank=R address=IP]
// Forks its ranks on loopback, or with `store` is one rank of a job whose ranks share a directory.
#include <fmt/format.h>
#include <gloo/allreduce.h>
#include <gloo/allreduce_halving_doubling.h>
#include <gloo/allreduce_ring_chunked.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "benchmarks/directory_store.h"
#include "ringside/common/core/flat_space.h"
#include "ringside/common/strategy/strategy_entry.h"
#include "ringside/ring/algorithms/links.h"
#include "ringside/ring/algorithms/ring_algorithms.h"
#include "ringside/ring/collectives/collective_table.h"
#include "ringside/ring/collectives/link_collective_entry.h"

namespace ringside {
namespace {

using Clock = std::chrono::steady_clock;
using Arguments = std::map<std::string, std::string>;

struct Job {
  World world;
  std::string address = "127.0.0.1";
  std::string directory;
  std::vector<std::size_t> sizes;
  std::set<std::string, std::less<>> contenders;  // empty: all
  int rounds = 9;

  bool Wants(std::string_view contender) const {
    return contenders.empty() || contenders.contains(contender);
  }
};

struct Contender {
  std::string name;
  std::function<void(std::span<float>)> all_reduce;
};

/// One round of one contender: microseconds per operation, as wall time and as CPU of all ranks.
struct Sample {
  double wall_us = 0;
  double cpu_us = 0;
};

double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double Sum(Collective& collective, double value) {
  const auto all = collective.AllGather(std::as_bytes(std::span(&value, 1)));
  std::vector<double> values(all.size() / sizeof(double));
  std::memcpy(values.data(), all.data(), all.size());
  double sum = 0;
  for (const double each : values) sum += each;
  return sum;
}

double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

std::shared_ptr<gloo::Context> ConnectGloo(const Job& job) {
  gloo::transport::tcp::attr attributes;
  attributes.hostname = job.address;
  auto device = gloo::transport::tcp::CreateDevice(attributes);
  std::filesystem::create_directories(job.directory + "/bare");
  gloo::rendezvous::FileStore store(job.directory + "/bare");
  auto context = std::make_shared<gloo::rendezvous::Context>(job.world.rank, job.world.workers);
  context->connectFullMesh(store, device);
  return context;
}

void GlooAdd(void* out, const void* a, const void* b, std::size_t count) {
  auto* sum = static_cast<float*>(out);
  if (a != out) std::memcpy(out, a, count * sizeof(float));
  AddInto(std::span(sum, count), std::span(static_cast<const float*>(b), count));
}

/// A connected collective of the table.
struct Ours {
  std::string name;
  std::unique_ptr<Collective> collective;
};

/// The contenders for one vector, to which Gloo's older algorithms are bound.
class Contest {
 public:
  Contest(const Job& job, std::span<const Ours> ours, const std::shared_ptr<gloo::Context>& context,
          const FlatSpace& space)
      : job_(job) {
    for (const Ours& each : ours) {
      Add(each.name, [collective = each.collective.get()](auto span) {
        collective->AllReduceSum({.data = span, .vector = FlatVector::kGrads});
      });
    }
    Add("copy", [&space](auto span) {
      std::memcpy(space.params().data(), span.data(), span.size_bytes());
    });
    AddGloo(context, space.grads());
  }

  void Run(Collective& barrier, std::span<float> data) {
    const double bytes = static_cast<double>(data.size_bytes());
    const int iterations = std::clamp(static_cast<int>(64e6 / (bytes + 64e3)), 2, 200);
    for (int round = -1; round < job_.rounds; ++round) {  // round -1 warms up
      for (std::size_t i = 0; i < contenders_.size(); ++i) {
        const Sample sample = Measure(contenders_[i], barrier, data, iterations);
        if (round >= 0) samples_[i].push_back(sample);
      }
    }
    if (job_.world.rank == 0) Print(data.size_bytes());
  }

 private:
  void AddGloo(const std::shared_ptr<gloo::Context>& context, std::span<float> data) {
    Add("gloo-ring", [context](auto span) {
      gloo::AllreduceOptions options(context);
      options.setOutput(span.data(), span.size());
      options.setReduceFunction(GlooAdd);
      options.setAlgorithm(gloo::AllreduceOptions::Algorithm::RING);
      gloo::allreduce(options);
    });
    const auto count = static_cast<int>(data.size());
    const std::vector<float*> pointers{data.data()};
    using Chunked = gloo::AllreduceRingChunked<float>;
    using Halving = gloo::AllreduceHalvingDoubling<float>;
    const auto chunked = std::make_shared<Chunked>(context, pointers, count);
    Add("gloo-ring-chunked", [chunked](auto) { chunked->run(); });
    const auto halving = std::make_shared<Halving>(context, pointers, count);
    Add("gloo-halving-doubling", [halving](auto) { halving->run(); });
  }

  void Add(std::string name, std::function<void(std::span<float>)> all_reduce) {
    if (!job_.Wants(name)) return;
    contenders_.push_back({std::move(name), std::move(all_reduce)});
    samples_.emplace_back();
  }

  Sample Measure(const Contender& contender, Collective& barrier, std::span<float> data,
                 int iterations) {
    std::ranges::fill(data, 0.0F);  // sums must not overflow
    barrier.AllGather({});
    Sum(barrier, 0);
    const auto start = Clock::now();
    const double cpu = CpuSeconds();
    for (int i = 0; i < iterations; ++i) contender.all_reduce(data);
    const double wall = std::chrono::duration<double>(Clock::now() - start).count();
    const double all_cpu = Sum(barrier, CpuSeconds() - cpu);
    return {wall / iterations * 1e6, all_cpu / iterations * 1e6};
  }

  double MedianOf(std::size_t contender, double Sample::*figure) const {
    std::vector<double> values;
    for (const Sample& sample : samples_[contender]) values.push_back(sample.*figure);
    return Median(values);
  }

  void Print(std::size_t bytes) const {
    double peer = 0;
    for (std::size_t i = 0; i < contenders_.size(); ++i) {
      const double wall = MedianOf(i, &Sample::wall_us);
      const bool bare = contenders_[i].name.starts_with("gloo");
      if (bare && (peer == 0 || wall < peer)) peer = wall;
    }
    for (std::size_t i = 0; i < contenders_.size(); ++i) {
      const double wall = MedianOf(i, &Sample::wall_us);
      const double n = job_.world.workers;
      fmt::print(
          "{{\"benchmark\":\"all-reduce\",\"contender\":\"{}\",\"ranks\":{},\"size\":{},"
          "\"time_us\":{:.1f},\"cpu_us\":{:.1f},\"busbw_GBps\":{:.4f},\"ratio\":{:.3f}}}\n",
          contenders_[i].name, job_.world.workers, bytes, wall, MedianOf(i, &Sample::cpu_us),
          static_cast<double>(bytes) / wall * 1e-3 * 2 * (n - 1) / n, wall / peer);
    }
    std::fflush(stdout);
  }

  const Job& job_;
  std::vector<Contender> contenders_;
  std::vector<std::vector<Sample>> samples_;
};

void RunRank(const Job& job) {
  std::signal(SIGPIPE, SIG_IGN);
  DirectoryStore store(job.directory + "/store");
  const CommOptions comm{
      .address = job.address, .token = "benchmark", .timeout = std::chrono::seconds(60)};
  const StrategyOptions options;
  std::vector<Ours> ours;
  for (const CollectiveEntry& entry : CollectiveTable()) {
    if (!job.Wants(entry.name)) continue;
    ours.push_back({entry.name, entry.make({job.world, store, comm, options, entry.name})});
  }
  const auto barrier =
      LinkCollectiveEntry(kRingAlgorithm).make({job.world, store, comm, options, "barrier"});
  const auto context = ConnectGloo(job);
  for (const std::size_t bytes : job.sizes) {
    const FlatSpace space(bytes / sizeof(float), "benchmark");
    for (const Ours& each : ours) each.collective->Prepare(space, {});
    Contest(job, ours, context, space).Run(*barrier, space.grads());
    barrier->AllGather({});
    Sum(*barrier, 0);  // no rank unbinds its buffers while another one still reads
  }
  ::usleep(100'000);
}

Arguments Parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i < argc; ++i) {
    const std::string text = argv[i];
    const auto equals = text.find('=');
    if (equals == std::string::npos) throw UsageError("expected key=value, not " + text);
    arguments[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return arguments;
}

Job MakeJob(const Arguments& arguments) {
  const auto value = [&](const char* key, const std::string& otherwise) {
    const auto found = arguments.find(key);
    return found == arguments.end() ? otherwise : found->second;
  };
  Job job;
  job.world.workers = std::stoi(value("ranks", "2"));
  job.world.rank = std::stoi(value("rank", "-1"));
  job.address = value("address", "127.0.0.1");
  job.directory = value("store", fmt::format("/tmp/ringside-benchmark.{}", getpid()));
  job.rounds = std::stoi(value("rounds", "9"));
  std::stringstream contenders(value("contenders", ""));
  for (std::string name; std::getline(contenders, name, ',');) job.contenders.insert(name);
  std::stringstream sizes(value("bytes", "4096,262144,4194304,67108864"));
  for (std::string size; std::getline(sizes, size, ',');) job.sizes.push_back(std::stoul(size));
  return job;
}

int RunAllRanks(Job job) {
  std::vector<pid_t> children;
  for (int rank = 0; rank < job.world.workers; ++rank) {
    children.push_back(fork());
    if (children.back() != 0) continue;
    job.world.rank = job.world.local_rank = rank;
    job.world.local_workers = job.world.workers;
    RunRank(job);
    _exit(0);
  }
  bool failed = false;
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    failed |= status != 0;
  }
  std::filesystem::remove_all(job.directory);
  return failed ? 1 : 0;
}

}  // namespace
}  // namespace ringside

int main(int argc, char** argv) {
  try {
    const ringside::Job job = ringside::MakeJob(ringside::Parse(argc, argv));
    if (job.world.rank < 0) return ringside::RunAllRanks(job);
    ringside::RunRank(job);
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "collective_benchmark: {}\n", error.what());
    return 1;
  }
}

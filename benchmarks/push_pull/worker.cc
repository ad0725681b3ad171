#include "benchmarks/push_pull/worker.h"

#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <ctime>

#include "benchmarks/push_pull/servers.h"
#include "ringside/common/base/deadline.h"
#include "ringside/common/strategy/strategy.h"

namespace ringside::push_pull {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kWarmUp = 3;

double Milliseconds(Clock::duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

}  // namespace

Worker::Worker(const Settings& settings, int rank, const std::filesystem::path& directory,
               Shared& shared, const std::vector<pid_t>& servers)
    : settings_(settings),
      rank_(rank),
      directory_(directory),
      shared_(shared),
      processes_(servers),
      plain_(settings.elements()) {
  DirectoryStore store(directory);
  store.Set("pid/" + std::to_string(rank), std::to_string(getpid()));
  const Deadline deadline = Deadline::After(CommOptions{}.timeout);
  for (int other = 0; other < settings.workers; ++other) {
    processes_.push_back(std::stoi(store.Get("pid/" + std::to_string(other), deadline)));
  }
  if (settings.Has("protobuf")) {
    bytes_ = std::make_unique<BytesWorker>(rank, store.Get("bytes", deadline));
  }
  if (settings.Has("sockets")) {
    std::vector<SocketsWorker::Part> parts;
    for (int server = 0; server < settings.servers; ++server) {
      const auto [begin, size] = settings.PartOf(server);
      parts.push_back({std::stoi(store.Get(SocketsKey(server), deadline)), begin, size});
    }
    sockets_ = std::make_unique<SocketsWorker>(parts);
  }
}

void Worker::Run() {
  if (settings_.Has("ringside")) {
    for (const std::string& transport : settings_.transports) AddJob(transport);
  }
  AddPeers();
  for (int round = 0; round < kWarmUp + settings_.rounds; ++round) {
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

void Worker::AddJob(const std::string& transport) {
  Store& store = stores_.emplace_back(directory_ / transport);
  Job& job = *(jobs_[transport] = std::make_unique<Job>(settings_, rank_, transport, store));
  contenders_.push_back({transport, [&job] { job.Step(); }});
}

void Worker::AddPeers() {
  std::ranges::fill(plain_.grads(), 1.0F);
  if (bytes_ != nullptr) {
    contenders_.push_back(
        {"protobuf",
         [this] { bytes_->Step(plain_.grads(), plain_.params(), settings_.bucket_elements()); }});
  }
  if (sockets_ != nullptr) {
    contenders_.push_back({"sockets", [this] { sockets_->Step(plain_.grads(), plain_.params()); }});
  }
}

Worker::Sample Worker::Time(const std::function<void()>& step) {
  const auto barrier = [this] { pthread_barrier_wait(&shared_.barrier); };
  barrier();
  const double cpu = CpuMilliseconds();
  barrier();
  const auto begin = Clock::now();
  step();
  shared_.finished_ms[static_cast<std::size_t>(rank_)] = Milliseconds(Clock::now() - begin);
  barrier();
  const auto* first = shared_.finished_ms.begin();
  return {*std::max_element(first, first + settings_.workers), CpuMilliseconds() - cpu};
}

double Worker::CpuMilliseconds() const {
  double total = 0;
  for (const pid_t process : processes_) {
    clockid_t clock{};
    timespec time{};
    if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &time) != 0) continue;
    total += static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) * 1e-6;
  }
  return total;
}

void Worker::Summarise(Contender& contender) const {
  std::vector<Sample>& samples = contender.samples;
  samples.erase(samples.begin(), samples.begin() + kWarmUp);
  const std::vector<double> ms = Column(samples, &Sample::ms);
  fmt::print(
      "{{\"contender\":\"{}\",\"workers\":{},\"servers\":{},\"bytes\":{},\"bucket_bytes\":{},"
      "\"rounds\":{},\"ms\":{:.1f},\"min_ms\":{:.1f},\"max_ms\":{:.1f},\"cpu_ms\":{:.1f}}}\n",
      contender.name, settings_.workers, settings_.servers, settings_.mib << 20,
      settings_.bucket_mib << 20, samples.size(), Median(ms), *std::ranges::min_element(ms),
      *std::ranges::max_element(ms), Median(Column(samples, &Sample::cpu_ms)));
}

void Worker::Compare() const {
  const Contender* grpc = Find("grpc");
  const auto median = [](const Contender* contender) {
    return contender == nullptr ? 0 : Median(Column(contender->samples, &Sample::ms));
  };
  shared_.ours_ms = median(grpc);
  shared_.protobuf_ms = median(Find("protobuf"));
  shared_.tcp_ms = median(Find("tcp"));
  shared_.sockets_ms = median(Find("sockets"));
  shared_.ratio = MedianRatio(grpc, Find("protobuf"), &Sample::ms);
  shared_.cpu_ratio = MedianRatio(grpc, Find("protobuf"), &Sample::cpu_ms);
  shared_.sockets_ratio = MedianRatio(grpc, Find("sockets"), &Sample::ms);
  shared_.tcp_to_sockets = MedianRatio(Find("tcp"), Find("sockets"), &Sample::ms);
  shared_.tcp_ratio = MedianRatio(Find("tcp"), grpc, &Sample::ms);
  shared_.uds_ratio = MedianRatio(Find("uds"), grpc, &Sample::ms);
  shared_.shm_ratio = MedianRatio(Find("shm"), grpc, &Sample::ms);
}

const Worker::Contender* Worker::Find(const std::string& name) const {
  const auto found = std::ranges::find(contenders_, name, &Contender::name);
  return found == contenders_.end() ? nullptr : &*found;
}

std::vector<double> Worker::Column(const std::vector<Sample>& samples, double Sample::*field) {
  std::vector<double> values;
  for (const Sample& sample : samples) values.push_back(sample.*field);
  return values;
}

double Worker::MedianRatio(const Contender* one, const Contender* other, double Sample::*field) {
  if (one == nullptr || other == nullptr) return 0;
  std::vector<double> ratios;
  for (std::size_t i = 0; i < one->samples.size(); ++i) {
    ratios.push_back(one->samples[i].*field / other->samples[i].*field);
  }
  return Median(ratios);
}

}  // namespace ringside::push_pull

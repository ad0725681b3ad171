// Times push and pull of one step: ps-sync over each of its transports, a plain gRPC service with
// Protocol Buffer payloads, and bare sockets that only send a bucket back. They run in interleaved
// rounds of one job on loopback. Every worker and server is a process of its own.
//
// Prints one JSON line per contender, then one that compares them by medians of the rounds' ratios.
// Milliseconds count from the start of all workers until the last one has all parameters; medians
// over rounds. `cpu_ms` is of all processes together. `copied_by_*` is the number of payload bytes
// that our own code has moved over gRPC per payload byte received; copies by the kernel and gRPC do
// not count. 1 is the receiver's own sum or write and nothing else.
//
// usage: push_pull_benchmark [--workers 2] [--servers 1] [--mib 64] [--bucket-mib 4] [--rounds 15]
//                            [--transport grpc,tcp,uds,shm] [--only ringside|protobuf|sockets]
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "benchmarks/directory_store.h"
#include "benchmarks/push_pull/servers.h"
#include "benchmarks/push_pull/settings.h"
#include "benchmarks/push_pull/shared.h"
#include "benchmarks/push_pull/worker.h"
#include "ringside/common/base/allocator.h"
#include "ringside/common/base/errors.h"

namespace ringside::push_pull {
namespace {

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

double Sum(const std::array<double, kMaxProcesses>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

void PrintComparison(const Settings& settings, const Shared& shared) {
  // Loading the initial parameters writes each of them once, before the first round.
  const double moved = Sum(shared.moved_by_server) - static_cast<double>(settings.mib << 20);
  const double received = Sum(shared.received_by_server);
  fmt::print(
      "{{\"ours_ms\":{:.1f},\"tcp_ms\":{:.1f},\"protobuf_ms\":{:.1f},\"sockets_ms\":{:.1f},"
      "\"ratio\":{:.3f},\"cpu_ratio\":{:.3f},\"sockets_ratio\":{:.3f},\"tcp_to_sockets\":{:.3f},"
      "\"tcp_to_grpc\":{:.3f},\"uds_to_grpc\":{:.3f},\"shm_to_grpc\":{:.3f},"
      "\"copied_by_worker\":{:.3f},"
      "\"copied_by_server\":{:.3f}}}\n",
      shared.ours_ms, shared.tcp_ms, shared.protobuf_ms, shared.sockets_ms, shared.ratio,
      shared.cpu_ratio, shared.sockets_ratio, shared.tcp_to_sockets, shared.tcp_ratio,
      shared.uds_ratio, shared.shm_ratio, shared.copied_by_worker,
      received > 0 ? moved / received : 0);
}

/// Forks all processes before gRPC is used. Returns 0 when all workers succeed.
int Run(const Settings& settings) {
  std::string pattern = std::filesystem::temp_directory_path() / "push_pull.XXXXXX";
  const std::filesystem::path directory = mkdtemp(pattern.data());
  DirectoryStore store(directory);
  Shared& shared = MakeShared(settings.workers);
  std::array<int, 2> done{};
  if (pipe(done.data()) != 0) throw InternalError("no pipe");
  std::vector<pid_t> servers, workers;
  const auto serve = [&](const std::function<void()>& body) {
    servers.push_back(Fork([&] {
      close(done[1]);
      body();
    }));
  };
  for (const std::string& transport : settings.transports) {
    for (int i = 0; i < settings.servers; ++i) {
      serve([&, i, transport] {
        DirectoryStore own(directory / transport);
        RunServer(settings, i, transport, own, shared, done[0]);
      });
    }
  }
  if (settings.Has("protobuf")) serve([&] { RunBytesServer(settings, store, done[0]); });
  for (int i = 0; settings.Has("sockets") && i < settings.servers; ++i) {
    serve([&, i] { RunSocketsServer(settings, i, store, done[0]); });
  }
  for (int rank = 0; rank < settings.workers; ++rank) {
    workers.push_back(Fork([&] {
      close(done[1]);
      Worker(settings, rank, directory, shared, servers).Run();
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
  if (failed == 0) PrintComparison(settings, shared);
  return failed;
}

}  // namespace
}  // namespace ringside::push_pull

int main(int argc, char** argv) {
  ringside::KeepFreedMemory();
  try {
    return ringside::push_pull::Run(ringside::push_pull::ParseSettings(argc, argv));
  } catch (const std::exception& error) {
    fmt::print(stderr, "push_pull_benchmark: {}\n", error.what());
    return 2;
  }
}

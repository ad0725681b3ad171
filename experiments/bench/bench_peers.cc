// Peers are separate programs, so that their libraries and waits cannot affect our processes. Each
// prints one JSON object per size on standard output (benchmarks/peers).
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <optional>
#include <sstream>
#include <thread>

#include "ringside/common/base/deadline.h"
#include "ringside/experiments/bench/bench_candidates.h"
#include "ringside/experiments/job/processes/mpirun.h"
#include "ringside/experiments/system/files/find_program.h"
#include "ringside/experiments/system/output/log_forwarder.h"
#include "ringside/experiments/system/processes/process.h"
#include "ringside/experiments/system/processes/signal_watch.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kTick{50};
constexpr std::chrono::seconds kTermGrace{2};
constexpr std::chrono::minutes kPeerTimeout{10};
// In one go. A peer may write without end.
constexpr int kMaxReads = 16;

/// A peer's process and its output so far. The process ends with this object.
class PeerProcess {
 public:
  explicit PeerProcess(const std::vector<std::string>& argv) : process_({.argv = argv}) {}

  /// Waits until the process ends. Ends it at a signal or at the deadline.
  JobOutcome Wait(SignalWatch& signals, const Deadline& deadline) {
    JobOutcome outcome{.status = JobStatus::kDone};
    std::optional<ProcessEnd> end;
    while (!(end = process_.Poll())) {
      Read(signals.fd());
      if (signals.Take() > 0) {
        outcome = {JobStatus::kInterrupted, "interrupted", nullptr};
        End();
      } else if (deadline.expired()) {
        outcome = {JobStatus::kTimedOut, "took longer than its limit", nullptr};
        End();
      } else if (wrote_too_much_) {
        End();
      }
    }
    while (Read() && !wrote_too_much_) {
    }
    if (outcome.status != JobStatus::kDone) return outcome;
    if (wrote_too_much_) {
      outcome = {JobStatus::kFailed,
                 fmt::format("it wrote more than {} MiB", kMaxLogFileBytes >> 20), nullptr};
    } else if (end->signal != 0 || end->code != 0) {
      outcome = {JobStatus::kFailed, end->Text() + ": " + LastLine(), nullptr};
    }
    return outcome;
  }

  const std::string& output() const { return output_; }

 private:
  /// Waits a short time for output or a signal, then reads some of what is there. What exceeds the
  /// limit is lost. Returns whether there may be more.
  bool Read(int signal_fd = -1) {
    std::array<pollfd, 2> fds{pollfd{process_.output_fd(), POLLIN, 0},
                              pollfd{signal_fd, POLLIN, 0}};
    // If it fails, this round was shorter. The descriptors do not block.
    ::poll(fds.data(), fds.size(), static_cast<int>(kTick.count()));
    std::array<char, 4096> piece;
    for (int reads = 0; reads < kMaxReads; ++reads) {
      const ssize_t bytes = ::read(process_.output_fd(), piece.data(), piece.size());
      if (bytes <= 0) return false;
      const auto count = static_cast<std::size_t>(bytes);
      wrote_too_much_ = wrote_too_much_ || output_.size() + count > kMaxLogFileBytes;
      if (!wrote_too_much_) output_.append(piece.data(), count);
    }
    return true;
  }

  /// Sends SIGTERM first: mpirun then ends its ranks. SIGKILL would leave them running.
  void End() {
    process_.Signal(SIGTERM);
    const Deadline deadline = Deadline::After(kTermGrace);
    while (!process_.Poll() && !deadline.expired()) Read();
    process_.Signal(SIGKILL);
  }

  std::string LastLine() const {
    const std::size_t end = output_.find_last_not_of('\n');
    if (end == std::string::npos) return "it wrote nothing";
    const std::size_t begin = output_.rfind('\n', end);
    return output_.substr(begin + 1, end - begin);
  }

  Process process_;
  std::string output_;
  bool wrote_too_much_ = false;
};

std::vector<BenchSample> ReadSamples(const std::string& output) {
  std::vector<BenchSample> samples;
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with('{')) continue;
    const auto row = nlohmann::json::parse(line);
    samples.push_back({.size = row.at("size"),
                       .times_us = row.at("times_us").get<std::vector<double>>(),
                       .wrong = {},
                       .warmup = ReadWarmup(row.at("warmup"))});
  }
  return samples;
}

BenchRound RunPeer(const std::vector<std::string>& argv) {
  SignalWatch signals;
  PeerProcess peer(argv);
  BenchRound round{.outcome = peer.Wait(signals, Deadline::After(kPeerTimeout))};
  if (round.outcome.status != JobStatus::kDone) return round;
  try {
    round.samples = ReadSamples(peer.output());
  } catch (const nlohmann::json::exception& error) {
    round.outcome = {JobStatus::kFailed, std::string("unreadable output: ") + error.what(),
                     nullptr};
  }
  return round;
}

/// The path of a program in the directory of `ringside`; empty if it is not built.
std::string PeerProgram(const std::string& name) {
  const fs::path path = fs::path(DirectoryOfThisExecutable()) / name;
  return fs::exists(path) ? path.string() : std::string();
}

/// The mpirun command line that strategy `mpi` uses for its ranks, without the program.
std::vector<std::string> LikeOurOwnRanks(const std::string& mpirun, int workers) {
  return MpirunArguments({.mpirun = mpirun,
                          .workers = workers,
                          .cores = static_cast<int>(std::thread::hardware_concurrency()),
                          .as_root = ::geteuid() == 0});
}

std::vector<std::string> PlanArguments(const BenchPlan& plan) {
  std::vector<std::string> words{plan.warmup ? std::to_string(*plan.warmup) : "steady",
                                 std::to_string(plan.iterations)};
  for (const std::int64_t size : plan.sizes) words.push_back(std::to_string(size));
  return words;
}

/// An MPI library in a virtual environment. CMake leaves a link to its mpiexec beside the program.
struct MpiPeer {
  const char* name;
  const char* program;
  std::vector<std::string> arguments;  ///< Of mpiexec.
  bool allow_root = false;             ///< Whether root needs OpenMPI's flag.
};

std::vector<MpiPeer> MpiPeers() {
  return {{"impi", "peer-impi", {"-genv", "I_MPI_FABRICS", "shm"}},
          {"openmpi5", "peer-openmpi5", {"--oversubscribe", "--bind-to", "none"}, true},
          {"mpich", "peer-mpich", {}}};
}

/// The command line that starts the ranks of an MPI library from a virtual environment; empty if
/// the library is not there.
std::vector<std::string> OwnLauncher(const MpiPeer& peer, const std::string& ranks) {
  const fs::path link =
      fs::path(DirectoryOfThisExecutable()) / (std::string(peer.program) + ".mpiexec");
  std::error_code none;
  const fs::path mpiexec = fs::read_symlink(link, none);
  if (none || !fs::exists(mpiexec)) return {};
  // With huge pages for their own buffers, Intel MPI and OpenMPI 5 sum 64 MiB 2.5 times as fast.
  std::vector<std::string> words{"/usr/bin/env", "GLIBC_TUNABLES=glibc.malloc.hugetlb=1",
                                 mpiexec.string()};
  if (peer.allow_root && ::geteuid() == 0) words.emplace_back("--allow-run-as-root");
  words.insert(words.end(), peer.arguments.begin(), peer.arguments.end());
  words.insert(words.end(), {"-n", ranks});
  return words;
}

class PeerList {
 public:
  PeerList(int workers, const BenchPlan& plan, std::vector<BenchSkipped>& skipped)
      : workers_(workers), plan_(PlanArguments(plan)), skipped_(skipped) {}

  void Add(BenchKind kind, const std::string& name, const std::string& program,
           std::vector<std::string> before, const std::vector<std::string>& arguments) {
    const std::string path = PeerProgram(program);
    if (path.empty()) {
      skipped_.push_back({name, program + " is not built beside ringside"});
      return;
    }
    before.push_back(path);
    before.insert(before.end(), arguments.begin(), arguments.end());
    before.insert(before.end(), plan_.begin(), plan_.end());
    const int workers = workers_;
    peers_.push_back(
        {.name = name,
         .kind = kind,
         .bytes_per_nic = [workers](auto size) { return AllReduceBytes(workers, size); },
         .run = [argv = std::move(before)] { return RunPeer(argv); }});
  }

  void Skip(const std::string& name, const std::string& reason) {
    skipped_.push_back({name, reason});
  }
  std::vector<BenchCandidate> Take() { return std::move(peers_); }

 private:
  const int workers_;
  const std::vector<std::string> plan_;
  std::vector<BenchSkipped>& skipped_;
  std::vector<BenchCandidate> peers_;
};

}  // namespace

std::vector<BenchCandidate> PeerCandidates(int workers, const BenchPlan& plan,
                                           std::vector<BenchSkipped>& skipped) {
  PeerList peers(workers, plan, skipped);
  const std::string ranks = std::to_string(workers);
  for (const char* algorithm : {"ring", "ring-chunked", "halving-doubling"}) {
    peers.Add(BenchKind::kBareGloo, std::string("gloo-") + algorithm, "peer-gloo", {},
              {algorithm, ranks});
  }
  if (const std::string mpirun = FindProgram("mpirun"); !mpirun.empty()) {
    peers.Add(BenchKind::kBareMpi, "openmpi", "peer-openmpi", LikeOurOwnRanks(mpirun, workers),
              {ranks});
  } else {
    peers.Skip("openmpi", "there is no mpirun: install openmpi-bin");
  }
  for (const MpiPeer& peer : MpiPeers()) {
    if (const auto launcher = OwnLauncher(peer, ranks); !launcher.empty()) {
      peers.Add(BenchKind::kBareMpi, peer.name, peer.program, launcher, {ranks});
    } else {
      peers.Skip(peer.name,
                 "its MPI library is not installed (scripts/install-dependencies.sh --benchmarks), "
                 "or was installed after the build was configured");
    }
  }
  peers.Add(BenchKind::kMemoryCopy, kMemoryCopy, "peer-memory-copy", {}, {ranks});
  return peers.Take();
}

}  // namespace ringside

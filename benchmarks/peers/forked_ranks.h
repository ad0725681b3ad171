#ifndef RINGSIDE_BENCHMARKS_PEERS_FORKED_RANKS_H_
#define RINGSIDE_BENCHMARKS_PEERS_FORKED_RANKS_H_

#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <span>
#include <vector>

#include "benchmarks/peers/peer_times.h"

namespace ringside {

/// The ranks of a peer without a launcher: processes forked from this one. Shared memory holds a
/// barrier and their times. Ranks die with rank 0.
class ForkedRanks {
 public:
  ForkedRanks(int ranks, int iterations)
      : ranks_(ranks), room_(std::max(static_cast<std::size_t>(iterations), kWarmupValues)) {
    const std::size_t bytes =
        sizeof(pthread_barrier_t) + static_cast<std::size_t>(ranks) * room_ * sizeof(double);
    void* memory =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) std::abort();
    barrier_ = static_cast<pthread_barrier_t*>(memory);
    times_ = reinterpret_cast<double*>(barrier_ + 1);
    pthread_barrierattr_t attributes;
    ::pthread_barrierattr_init(&attributes);
    ::pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    ::pthread_barrier_init(barrier_, &attributes, static_cast<unsigned>(ranks));
  }

  /// Forks the ranks. Returns the rank of the current process; the calling one is rank 0.
  int Fork() {
    for (int rank = 1; rank < ranks_; ++rank) {
      const pid_t child = ::fork();
      if (child > 0) {
        children_.push_back(child);
        continue;
      }
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      return rank_ = rank;
    }
    return 0;
  }

  void Barrier() { ::pthread_barrier_wait(barrier_); }

  /// Replaces each value by the largest of all ranks. Also a barrier.
  void Slowest(std::span<double> values) {
    if (values.size() > room_) std::abort();
    std::ranges::copy(values, times_ + static_cast<std::size_t>(rank_) * room_);
    Barrier();
    for (int rank = 0; rank < ranks_; ++rank) {
      const double* const theirs = times_ + static_cast<std::size_t>(rank) * room_;
      for (std::size_t i = 0; i < values.size(); ++i) values[i] = std::max(values[i], theirs[i]);
    }
    Barrier();
  }

  /// Rank 0 prints the slowest rank's time of each operation.
  void Print(std::size_t size, const PeerResult& own) {
    std::vector<double> slowest = own.times_us;
    Slowest(slowest);
    if (rank_ == 0) PrintPeerTimes(size, slowest, own.warmup);
  }

  /// Ends all ranks but 0. Rank 0 returns whether all succeeded.
  bool Join() {
    if (rank_ != 0) ::_exit(0);
    bool well = true;
    for (const pid_t child : children_) {
      int status = 0;
      ::waitpid(child, &status, 0);
      well = well && status == 0;
    }
    return well;
  }

 private:
  static constexpr std::size_t kWarmupValues = SteadyWarmup::kMostValues + 1;  // and the time

  const int ranks_;
  const std::size_t room_;  // values of a rank
  int rank_ = 0;
  pthread_barrier_t* barrier_ = nullptr;
  double* times_ = nullptr;  // by rank, then by operation
  std::vector<pid_t> children_;
};

}  // namespace ringside

#endif  // RINGSIDE_BENCHMARKS_PEERS_FORKED_RANKS_H_

#ifndef RINGSIDE_TESTS_COMMON_THREAD_RANKS_H_
#define RINGSIDE_TESTS_COMMON_THREAD_RANKS_H_

#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "ringside/common/core/world.h"

namespace ringside {

/// The outcome of every rank.
struct RankOutcomes {
  std::vector<std::exception_ptr> by_rank;  ///< Null where the rank returned normally.
  std::exception_ptr first;                 ///< The one thrown earliest: the cause, not an echo.

  int failures() const {
    int count = 0;
    for (const std::exception_ptr& failure : by_rank) count += failure != nullptr ? 1 : 0;
    return count;
  }
};

/// Runs `body(rank)` for 0 <= rank < ranks, each on a thread of its own. Joins all threads and
/// returns what each threw. Ranks do not stop each other, so their waits need deadlines.
inline RankOutcomes TryRanks(int ranks, const std::function<void(int rank)>& body) {
  RankOutcomes outcomes;
  outcomes.by_rank.resize(static_cast<std::size_t>(ranks));
  std::mutex mutex;
  const auto run = [&](int rank) {
    try {
      body(rank);
    } catch (...) {
      const std::lock_guard lock(mutex);
      outcomes.by_rank[static_cast<std::size_t>(rank)] = std::current_exception();
      if (outcomes.first == nullptr) outcomes.first = std::current_exception();
    }
  };
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < ranks; ++rank) threads.emplace_back(run, rank);
  threads.clear();  // joins
  return outcomes;
}

/// Same as `TryRanks`, but rethrows the earliest exception.
inline void RunRanks(int ranks, const std::function<void(int rank)>& body) {
  const RankOutcomes outcomes = TryRanks(ranks, body);
  if (outcomes.first != nullptr) std::rethrow_exception(outcomes.first);
}

/// The world of rank `rank` of `workers` workers on one host.
inline World TestWorld(int rank, int workers, int servers = 0, bool colocated = false) {
  World world;
  world.rank = rank;
  world.workers = workers;
  world.servers = servers;
  world.colocated_servers = colocated ? servers : 0;
  world.local_rank = rank;
  world.local_workers = workers;
  return world;
}

}  // namespace ringside

#endif  // RINGSIDE_TESTS_COMMON_THREAD_RANKS_H_

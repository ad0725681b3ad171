#ifndef RINGSIDE_RING_SHM_SHM_GROUP_H_
#define RINGSIDE_RING_SHM_SHM_GROUP_H_

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ringside/common/base/deadline.h"
#include "ringside/common/base/memory_region.h"
#include "ringside/common/core/store.h"
#include "ringside/common/measure/activity.h"
#include "ringside/common/strategy/strategy_entry.h"
#include "ringside/ring/core/operation.h"

namespace ringside {

/// The counts that a rank posts and other ranks wait for. A count only grows, and wraps around.
enum class ShmCount {
  kBarriers,  ///< How many barriers it has reached.
  kReady,     ///< How many pieces of work it has made ready for the others.
  kDone,      ///< How many pieces of work it has done for the others.
};

/// How long a waiting rank stays awake before it sleeps. With a core for each rank it spins, which
/// reacts fastest. It does not yield there: two ranks that yield to each other may stay on one
/// core, while a sleeping rank wakes on an idle core. With more ranks than cores it yields its core
/// again and again. A rank that waits for one on its own core does not spin, because that one
/// cannot run meanwhile: the higher rank moves to a core without a rank, the lower one sleeps.
struct ShmWaitPolicy {
  std::chrono::microseconds spin{200};
  std::chrono::microseconds yield{200};
};

struct ShmGroupOptions {
  int rank = 0;              ///< This rank in the group.
  std::vector<int> workers;  ///< The worker number in the job of each rank, for errors.
  Store& store;              ///< Used during construction alone.
  const CommOptions& comm;
  std::string prefix;             ///< Prefix of the keys in the store: new for each group.
  std::size_t scratch_bytes = 0;  ///< Size of the memory that all ranks use together.
  ShmWaitPolicy patience = {};
};

/// The ranks of one host, connected by shared memory. They are processes, or threads in a test.
/// Rank 0 creates the memory; the others attach to it.
///
/// Each count of a rank has its own cache line, and waiting ranks sleep on that word. When a rank
/// leaves, dies or is late, the waits of the others fail. The first rank that notices records it,
/// so all name the same rank.
///
/// A waiting rank may be moved to another core that its thread may use. The set of those cores does
/// not change.
///
/// Thread safety: one thread per rank.
class ShmGroup {
 public:
  /// Collective. Throws `CommError` naming the first worker that is missing, `MissingBackendError`
  /// when there is too little shared memory.
  explicit ShmGroup(const ShmGroupOptions& options);
  /// Calls `Leave`.
  ~ShmGroup();
  ShmGroup(const ShmGroup&) = delete;
  ShmGroup& operator=(const ShmGroup&) = delete;

  int rank() const { return rank_; }
  int size() const { return static_cast<int>(workers_.size()); }
  /// The worker number of a rank in the job.
  int WorkerOf(int rank) const { return workers_[static_cast<std::size_t>(rank)]; }
  std::byte* scratch() const;

  /// Sets this rank's count to `value`. Ranks that waited for it see all earlier writes of this
  /// rank.
  void Post(ShmCount count, std::uint32_t value);
  /// Whether the counts of all ranks have reached `value`.
  bool HaveAll(ShmCount count, std::uint32_t value) const;
  /// Waits until all ranks' counts reach `value`. Throws `CommError` that names the missing rank.
  void WaitForAll(ShmCount count, std::uint32_t value, const Operation& what);
  /// Waits until all ranks have called it.
  void Barrier(const Operation& what);
  /// Tells the others to stop waiting for this rank. Idempotent.
  void Leave() noexcept;

 private:
  struct Control;
  struct RankCounters;
  enum class Reason : std::uint32_t { kLeft = 1, kDied, kLate };

  void Attach(const ShmGroupOptions& options, std::size_t bytes);
  void WatchProcesses();
  std::string NameOf(int rank) const;
  RankCounters& CountersOf(int rank) const;
  bool Reached(int rank, ShmCount count, std::uint32_t value) const;
  bool SpinUntilReached(int rank, ShmCount count, std::uint32_t value) const;
  /// Tells the others which core this rank is on.
  void PublishCore();
  /// Whether a rank was on the calling rank's core when it last told.
  bool SharesCore(int rank) const;
  /// Moves this rank to a core that no rank is on. Does nothing if there is none, or soon after the
  /// last move.
  void LeaveSharedCore();
  void WaitFor(int rank, ShmCount count, std::uint32_t value, const Deadline& deadline,
               const Operation& what);
  void ThrowIfPeerGone(ShmCount count, std::uint32_t value, const Operation& what);
  bool HasDied(int rank) const;
  [[noreturn]] void ThrowPeerFailure(int rank, Reason reason, const Operation& what);

  int rank_;
  std::vector<int> workers_;
  ShmWaitPolicy patience_;
  bool crowded_;
  std::chrono::milliseconds timeout_;
  ActivityBoard* activity_;
  MemoryRegion memory_;
  std::vector<int> processes_;  // by rank: a descriptor that reports the end of its process, or -1
  std::uint32_t barriers_ = 0;
  Deadline::Clock::time_point next_move_{};  // of `LeaveSharedCore`
};

}  // namespace ringside

#endif  // RINGSIDE_RING_SHM_SHM_GROUP_H_

#ifndef RINGSIDE_RING_SHM_GROUP_H_
#define RINGSIDE_RING_SHM_GROUP_H_

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/deadline.h"
#include "common/memory_region.h"
#include "common/store.h"
#include "common/strategy_entry.h"

namespace ringside {

/// What a rank counts for the others to wait for. Counts only grow, and wrap around.
enum class ShmCount {
  kMeetings,  ///< How often it has come to a barrier.
  kReady,     ///< What it has made ready for the others.
  kDone,      ///< What it has done for the others.
};

/// Names what is under way, for errors: "all-reduce of", "bucket 3, step 17". Put together only
/// then, as a small message takes no longer than making a string.
struct Operation {
  std::string_view verb;
  std::string_view object;
  std::string text() const { return std::string(verb) + " " + std::string(object); }
};

/// How a rank waits: awake for so long, then asleep. It spins, which answers fastest. With more
/// ranks than cores it offers its core to the others again and again instead. (Not otherwise: two
/// ranks that yield to each other may share a core for ever, while a sleeper wakes on an idle one.)
struct ShmPatience {
  std::chrono::microseconds spin{200};
  std::chrono::microseconds yield{200};
};

struct ShmGroupOptions {
  int rank = 0;              ///< Of this rank within the group.
  std::vector<int> workers;  ///< Which worker of the job each rank is: for errors.
  Store& store;              ///< Used during construction alone.
  const CommOptions& comm;
  std::string prefix;             ///< Of the keys in the store: new for each group of a job.
  std::size_t scratch_bytes = 0;  ///< Of memory that all ranks share.
  ShmPatience patience = {};
};

/// The ranks of one host that meet in shared memory: processes, or threads in a test. Rank 0
/// creates the memory, the others attach to it.
///
/// Every rank has a cache line for each of its counts; who waits for a count sleeps on that very
/// word. A rank that leaves, dies or does not come in time fails the waits of the others; the first
/// to notice writes down whom it missed, so all name the same one.
///
/// Thread safety: one thread a rank.
class ShmGroup {
 public:
  /// Collective. Throws `CommError` naming the first worker that is missing, `MissingBackendError`
  /// when there is too little shared memory.
  explicit ShmGroup(const ShmGroupOptions& options);
  /// Leaves.
  ~ShmGroup();
  ShmGroup(const ShmGroup&) = delete;
  ShmGroup& operator=(const ShmGroup&) = delete;

  int rank() const { return rank_; }
  int size() const { return static_cast<int>(workers_.size()); }
  /// "worker 3".
  std::string NameOf(int rank) const;
  std::byte* scratch() const;

  /// This rank has come to `value`. What it wrote before is seen by those who have waited for it.
  void Post(ShmCount count, std::uint32_t value);
  /// Whether all ranks have come to `value`.
  bool HaveAll(ShmCount count, std::uint32_t value) const;
  /// Until all ranks have come to `value`. Throws `CommError` that names the one that is missing.
  void WaitForAll(ShmCount count, std::uint32_t value, const Operation& what);
  /// A barrier.
  void Meet(const Operation& what);
  /// The others shall not wait for this rank any more. Idempotent.
  void Leave() noexcept;

 private:
  struct Control;
  struct Line;
  enum class Reason : std::uint32_t { kLeft = 1, kDied, kLate };

  void Attach(const ShmGroupOptions& options, std::size_t bytes);
  void WatchProcesses();
  Line& LineOf(int rank) const;
  bool Reached(int rank, ShmCount count, std::uint32_t value) const;
  bool WaitAwake(int rank, ShmCount count, std::uint32_t value) const;
  void WaitFor(int rank, ShmCount count, std::uint32_t value, const Deadline& deadline,
               const Operation& what);
  void RefuseMissing(ShmCount count, std::uint32_t value, const Operation& what);
  bool HasDied(int rank) const;
  [[noreturn]] void Blame(int rank, Reason reason, const Operation& what);

  int rank_;
  std::vector<int> workers_;
  ShmPatience patience_;
  bool crowded_;
  std::chrono::milliseconds timeout_;
  MemoryRegion memory_;
  std::vector<int> processes_;  // by rank: a descriptor that tells of the end of its process, or -1
  std::uint32_t meetings_ = 0;
};

}  // namespace ringside

#endif  // RINGSIDE_RING_SHM_GROUP_H_

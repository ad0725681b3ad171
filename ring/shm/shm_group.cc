#include "ringside/ring/shm/shm_group.h"

#include <fmt/format.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <cstring>
#include <ctime>

#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

using namespace std::chrono_literals;

/// The longest time in which a sleeping rank may not notice that another rank has died.
constexpr auto kNap = 50ms;
/// The kernel may have had a reason to put a moved rank back.
constexpr auto kBetweenMoves = 2ms;
/// Processors fetch cache lines in pairs.
constexpr std::size_t kLineBytes = 128;
constexpr std::size_t kPage = 4096;
constexpr int kCounts = 3;
constexpr Operation kStart{"the start of shared memory"};

int UsableCores() {
  cpu_set_t cores;
  return sched_getaffinity(0, sizeof(cores), &cores) == 0 ? CPU_COUNT(&cores) : 1;
}

/// 1 + the core that the caller is on; 0 if the kernel does not tell.
std::uint32_t OwnCore() { return static_cast<std::uint32_t>(sched_getcpu() + 1); }

void Pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}

int OpenProcess(std::uint32_t pid) {
#ifdef SYS_pidfd_open
  return static_cast<int>(syscall(SYS_pidfd_open, pid, 0));
#else
  errno = ENOSYS;
  return -1;
#endif
}

// Sleeping on a word in shared memory. The kernel does not watch the value. The rank that changes
// it must wake the sleepers.
static_assert(sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t));

/// Returns immediately if `word` is not `seen`. Otherwise it returns when it is woken, after
/// `patience`, or for no reason.
void FutexWait(std::atomic<std::uint32_t>& word, std::uint32_t seen,
               std::chrono::nanoseconds patience) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(patience);
  const timespec timeout{.tv_sec = seconds.count(), .tv_nsec = (patience - seconds).count()};
  syscall(SYS_futex, &word, FUTEX_WAIT, seen, &timeout, nullptr, 0);
}

/// Wakes all threads that sleep on `word`.
void FutexWake(std::atomic<std::uint32_t>& word) {
  syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

/// Whether `count` has reached `value`; counts wrap around.
bool NotBefore(std::uint32_t count, std::uint32_t value) {
  return static_cast<std::int32_t>(count - value) >= 0;
}

}  // namespace

/// The start of the memory. All zero at first. The low half of `blame` is 1 + the missing rank, the
/// high half is the reason.
struct alignas(kLineBytes) ShmGroup::Control {
  std::atomic<std::uint32_t> blame;
};

/// What one rank publishes to the others.
struct ShmGroup::RankCounters {
  struct alignas(kLineBytes) Count {
    std::atomic<std::uint32_t> value;
    std::atomic<std::uint32_t> sleepers;
  };
  std::array<Count, kCounts> counts;
  /// 1 + the core that the rank was on; 0 if unknown. On its own line, so that it is written only
  /// when it changes and read without a miss.
  alignas(kLineBytes) std::atomic<std::uint32_t> core;
  alignas(kLineBytes) std::atomic<std::uint32_t> pid;
  std::atomic<std::uint32_t> left;

  Count& operator[](ShmCount count) { return counts[static_cast<std::size_t>(count)]; }
};

ShmGroup::ShmGroup(const ShmGroupOptions& options)
    : rank_(options.rank),
      workers_(options.workers),
      patience_(options.patience),
      crowded_(size() > UsableCores()),
      timeout_(options.comm.rendezvous_timeout()),
      activity_(options.comm.activity) {
  static_assert(std::atomic<std::uint32_t>::is_always_lock_free);
  const std::size_t lines = sizeof(Control) + workers_.size() * sizeof(RankCounters);
  Attach(options, (lines + kPage - 1) / kPage * kPage + options.scratch_bytes);
  CountersOf(rank_).pid = static_cast<std::uint32_t>(getpid());
  try {
    Barrier(kStart);
    WatchProcesses();
  } catch (...) {
    Leave();
    throw;
  }
  timeout_ = options.comm.timeout;
}

ShmGroup::~ShmGroup() {
  Leave();
  for (const int process : processes_) {
    if (process >= 0) close(process);
  }
}

void ShmGroup::Attach(const ShmGroupOptions& options, std::size_t bytes) {
  const std::string key = options.prefix + "/memory";
  if (rank_ == 0) {
    memory_ = MemoryRegion::CreateShared("ringside-" + options.prefix, bytes);
    options.store.Set(key, memory_.handle());
    return;
  }
  try {
    memory_ = MemoryRegion::AttachShared(options.store.Get(key, Deadline::After(timeout_)), bytes);
  } catch (const CommError& error) {
    throw CommError(NameOf(0), kStart.Text(), error.what());
  }
}

void ShmGroup::WatchProcesses() {
  for (int rank = 0; rank < size(); ++rank) {
    processes_.push_back(rank == rank_ ? -1 : OpenProcess(CountersOf(rank).pid));
    if (processes_.back() < 0 && rank != rank_ && errno == ESRCH) {
      ThrowPeerFailure(rank, Reason::kDied, kStart);
    }
  }
}

std::string ShmGroup::NameOf(int rank) const { return fmt::format("worker {}", WorkerOf(rank)); }

ShmGroup::RankCounters& ShmGroup::CountersOf(int rank) const {
  return reinterpret_cast<RankCounters*>(memory_.data() + sizeof(Control))[rank];
}

std::byte* ShmGroup::scratch() const {
  const std::size_t lines = sizeof(Control) + workers_.size() * sizeof(RankCounters);
  return memory_.data() + (lines + kPage - 1) / kPage * kPage;
}

void ShmGroup::PublishCore() {
  auto& mine = CountersOf(rank_).core;
  const std::uint32_t core = OwnCore();
  if (mine.load(std::memory_order_relaxed) != core) mine.store(core, std::memory_order_relaxed);
}

bool ShmGroup::SharesCore(int rank) const {
  const std::uint32_t theirs = CountersOf(rank).core.load(std::memory_order_relaxed);
  return theirs != 0 && theirs == OwnCore();
}

void ShmGroup::LeaveSharedCore() {
  const auto now = Deadline::Clock::now();
  cpu_set_t usable;
  if (now < next_move_ || sched_getaffinity(0, sizeof(usable), &usable) != 0) return;
  cpu_set_t free = usable;
  for (int rank = 0; rank < size(); ++rank) {
    if (const std::uint32_t core = CountersOf(rank).core; core > 0) CPU_CLR(core - 1, &free);
  }
  if (CPU_COUNT(&free) == 0) return;
  next_move_ = now + kBetweenMoves;
  // The kernel moves the thread at once, and leaves it there when it may go anywhere again.
  if (sched_setaffinity(0, sizeof(free), &free) != 0) return;
  // These cores include those that were taken just now. So it fails only if somebody else has
  // changed the cores of this process meanwhile. Then that choice holds.
  static_cast<void>(sched_setaffinity(0, sizeof(usable), &usable));
  PublishCore();
}

void ShmGroup::Post(ShmCount count, std::uint32_t value) {
  PublishCore();
  auto& mine = CountersOf(rank_)[count];
  // Sequentially consistent, like the sleeper's accesses. So one of the two sees the write of the
  // other.
  mine.value = value;
  if (mine.sleepers > 0) FutexWake(mine.value);
}

bool ShmGroup::Reached(int rank, ShmCount count, std::uint32_t value) const {
  return NotBefore(CountersOf(rank)[count].value.load(std::memory_order_acquire), value);
}

bool ShmGroup::HaveAll(ShmCount count, std::uint32_t value) const {
  for (int rank = 0; rank < size(); ++rank) {
    if (!Reached(rank, count, value)) return false;
  }
  return true;
}

void ShmGroup::WaitForAll(ShmCount count, std::uint32_t value, const Operation& what) {
  const Deadline deadline = Deadline::After(timeout_);
  for (int rank = 0; rank < size(); ++rank) WaitFor(rank, count, value, deadline, what);
}

void ShmGroup::Barrier(const Operation& what) {
  Post(ShmCount::kBarriers, ++barriers_);
  WaitForAll(ShmCount::kBarriers, barriers_, what);
}

bool ShmGroup::SpinUntilReached(int rank, ShmCount count, std::uint32_t value) const {
  constexpr int kLooksAtATime = 16;  // checks between two readings of the clock
  if (Reached(rank, count, value)) return true;
  const auto until = Deadline::Clock::now() + (crowded_ ? patience_.yield : patience_.spin);
  while (Deadline::Clock::now() < until) {
    if (!crowded_ && SharesCore(rank)) return false;
    if (crowded_) sched_yield();
    for (int look = 0; look < (crowded_ ? 1 : kLooksAtATime); ++look) {
      if (Reached(rank, count, value)) return true;
      Pause();
    }
  }
  return false;
}

void ShmGroup::WaitFor(int rank, ShmCount count, std::uint32_t value, const Deadline& deadline,
                       const Operation& what) {
  if (!crowded_ && rank < rank_ && !Reached(rank, count, value) && SharesCore(rank)) {
    LeaveSharedCore();
  }
  if (SpinUntilReached(rank, count, value)) return;
  const ScopedPeer waits(activity_, {AwaitedPeer::Way::kMeet, WorkerOf(rank)});
  auto& line = CountersOf(rank)[count];
  while (!Reached(rank, count, value)) {
    ThrowIfPeerGone(count, value, what);
    if (deadline.expired()) ThrowPeerFailure(rank, Reason::kLate, what);
    ++line.sleepers;
    const std::uint32_t seen = line.value;
    if (!NotBefore(seen, value)) {
      FutexWait(line.value, seen, std::min<std::chrono::nanoseconds>(kNap, deadline.remaining()));
      PublishCore();  // it may have woken on another one
    }
    --line.sleepers;
  }
}

void ShmGroup::ThrowIfPeerGone(ShmCount count, std::uint32_t value, const Operation& what) {
  for (int rank = 0; rank < size(); ++rank) {
    const bool left = CountersOf(rank).left > 0;
    const bool died = !left && HasDied(rank);
    // Reads the count last: the rank may have posted `value` just before it left.
    if ((left || died) && !Reached(rank, count, value)) {
      ThrowPeerFailure(rank, left ? Reason::kLeft : Reason::kDied, what);
    }
  }
}

bool ShmGroup::HasDied(int rank) const {
  const auto index = static_cast<std::size_t>(rank);
  if (index >= processes_.size() || processes_[index] < 0) return false;
  pollfd poller{.fd = processes_[index], .events = POLLIN, .revents = 0};
  return poll(&poller, 1, 0) > 0;
}

void ShmGroup::ThrowPeerFailure(int rank, Reason reason, const Operation& what) {
  auto& blame = reinterpret_cast<Control*>(memory_.data())->blame;
  std::uint32_t verdict = 0;  // written by the first rank that noticed
  const std::uint32_t mine =
      (static_cast<std::uint32_t>(rank) + 1) | (static_cast<std::uint32_t>(reason) << 16);
  if (blame.compare_exchange_strong(verdict, mine)) verdict = mine;
  const std::string culprit = NameOf(static_cast<int>(verdict & 0xffff) - 1);
  switch (static_cast<Reason>(verdict >> 16)) {
    case Reason::kLeft:
      throw CommError(culprit, what.Text(), "it has left");
    case Reason::kDied:
      throw CommError(culprit, what.Text(), "its process has ended");
    case Reason::kLate:
      break;
  }
  throw CommError(culprit, what.Text(),
                  fmt::format("it did not come within {} ms", timeout_.count()));
}

void ShmGroup::Leave() noexcept {
  if (memory_.data() == nullptr || CountersOf(rank_).left > 0) return;
  CountersOf(rank_).left = 1;
  for (auto& count : CountersOf(rank_).counts) {
    if (count.sleepers > 0) FutexWake(count.value);
  }
}

}  // namespace ringside

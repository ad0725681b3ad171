#ifndef RINGSIDE_EXPERIMENTS_SYSTEM_PROCESSES_OOM_KILLS_H_
#define RINGSIDE_EXPERIMENTS_SYSTEM_PROCESSES_OOM_KILLS_H_

#include <chrono>
#include <cstdint>

namespace ringside {

/// The number of processes that the kernel has killed for lack of memory since the machine started:
/// of the whole machine or of a control group (`oom_kill` of /proc/vmstat). 0 if the kernel does
/// not tell.
std::uint64_t OomKills() noexcept;

/// Tells whether the kernel has killed a process for lack of memory a short time ago.
class RecentOomKills {
 public:
  /// How far back it looks at least. A process that is killed so needs a while to give back its
  /// memory.
  static constexpr std::chrono::seconds kRecent{2};

  /// Call it several times a second. Asks the kernel every `kRecent`.
  void Look() noexcept;
  /// Since the look before the last one: 2 to 4 s ago, or since this object was made.
  bool Any() const noexcept { return OomKills() > before_; }

 private:
  using Clock = std::chrono::steady_clock;

  std::uint64_t before_ = OomKills();
  std::uint64_t last_ = before_;
  Clock::time_point looked_ = Clock::now();
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SYSTEM_PROCESSES_OOM_KILLS_H_

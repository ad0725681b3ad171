#ifndef RINGSIDE_EXPERIMENTS_JOB_FIDELITY_PROCESSOR_WATCH_H_
#define RINGSIDE_EXPERIMENTS_JOB_FIDELITY_PROCESSOR_WATCH_H_

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "ringside/common/base/file_descriptor.h"
#include "ringside/experiments/job/fidelity/time_window.h"

namespace ringside {

/// The time of cores since the machine started, in clock ticks. Idle: also waiting for a disk.
/// Time that a hypervisor took for others ("steal") is not idle, because the machine was not ours.
struct ProcessorTicks {
  std::uint64_t idle = 0;
  std::uint64_t all = 0;

  friend bool operator==(const ProcessorTicks&, const ProcessorTicks&) = default;
};

/// Reads the text of /proc/stat: the sum over `cores`, or over all cores when that is empty. Throws
/// `MissingBackendError` when the text has no such numbers.
ProcessorTicks ParseProcessorTicks(std::string_view stat, const std::vector<int>& cores = {});

/// The cores that the calling thread, and what it starts, may use. Empty: all of this machine.
/// Throws `MissingBackendError`.
std::vector<int> AllowedCores();

/// A probe sleeps until a time and sees how late it wakes up. More probes would cost more than half
/// a per cent of a core in a virtual machine, where setting a timer is slow.
inline constexpr std::chrono::milliseconds kProbePeriod{8};
inline constexpr int kProbesPerSlot = 12;

/// About a tenth of a second: some probes, then a look at the ticks. 88 bytes.
struct ProcessorSlot {
  TimeWindow::Clock::time_point due;  ///< Of the first probe; the others follow by the period.
  TimeWindow::Clock::time_point ticks_at;
  ProcessorTicks ticks;
  int probes = 0;
  std::array<float, kProbesPerSlot> late_ms{};
};

/// What was seen of the processor. Slots are in the order of time; the first has ticks alone.
struct ProcessorRecord {
  std::deque<ProcessorSlot> slots;  ///< A deque: no probe waits while all slots are copied.
  /// Times in which this process itself was stopped (Ctrl-Z), or could not run for seconds.
  std::vector<TimeWindow> pauses;
  std::string error;  ///< Why the watch ended early; empty when it did not.
};

/// Watches the cores that this process may use in a thread of its own, from construction until
/// `Stop`. Takes about 3 MiB
/// for an hour. Use it from one thread.
class ProcessorWatch {
 public:
  /// Never throws for what it cannot read or start; the record then has an error. `stat` is the
  /// file of the ticks, another one in tests.
  explicit ProcessorWatch(const std::string& stat = "/proc/stat");
  ~ProcessorWatch();
  ProcessorWatch(const ProcessorWatch&) = delete;
  ProcessorWatch& operator=(const ProcessorWatch&) = delete;

  /// Ends the watch after a last look, within a few milliseconds. Later calls return the same.
  const ProcessorRecord& Stop();

 private:
  void Watch() noexcept;
  void FillSlots();
  /// Returns false when the slot ended before its last probe.
  bool Probe(ProcessorSlot& slot);
  void Look(ProcessorSlot& slot);

  const std::string stat_;
  FileDescriptor file_;
  std::vector<int> cores_;  // empty: all
  std::string text_;        // room for the file, or for its first line
  TimeWindow::Clock::time_point due_;
  ProcessorRecord record_;  // the thread's, until it has ended
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_FIDELITY_PROCESSOR_WATCH_H_

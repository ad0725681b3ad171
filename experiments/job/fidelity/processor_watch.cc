#include "ringside/experiments/job/fidelity/processor_watch.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <sstream>
#include <system_error>

#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

using Clock = TimeWindow::Clock;

// As for the launcher's own pauses: a busy machine delays a thread by less.
constexpr std::chrono::seconds kPause{2};
// 70 MiB. No run on emulated hosts has been longer.
constexpr std::size_t kMostSlots = 900'000;
constexpr std::size_t kFirstLineBytes = 512;
constexpr std::size_t kAllLinesBytes = 256 << 10;  // of a thousand cores

/// Sleeps until a time of CLOCK_MONOTONIC, which is libstdc++'s steady clock.
void SleepUntil(Clock::time_point time) {
  const auto since = time.time_since_epoch();
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since);
  const timespec until{.tv_sec = seconds.count(),
                       .tv_nsec = std::chrono::nanoseconds(since - seconds).count()};
  while (::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
  }
}

/// Reads the line that begins with `name` and a space.
ProcessorTicks TicksInLine(std::string_view stat, const std::string& name) {
  constexpr std::size_t kIdle = 3;
  constexpr std::size_t kDisk = 4;
  constexpr std::size_t kColumns = 8;  // the later ones, guest times, are part of the first two
  while (!stat.starts_with(name + " ")) {
    const std::size_t end = stat.find('\n');
    if (end == stat.npos) throw MissingBackendError("/proc/stat has no ticks of " + name);
    stat.remove_prefix(end + 1);
  }
  std::istringstream line{std::string(stat.substr(name.size(), stat.find('\n') - name.size()))};
  ProcessorTicks ticks;
  std::size_t column = 0;
  for (std::uint64_t value = 0; column < kColumns && line >> value; ++column) {
    ticks.all += value;
    if (column == kIdle || column == kDisk) ticks.idle += value;
  }
  if (column < kColumns) throw MissingBackendError("/proc/stat has no ticks of " + name);
  return ticks;
}

}  // namespace

ProcessorTicks ParseProcessorTicks(std::string_view stat, const std::vector<int>& cores) {
  if (cores.empty()) return TicksInLine(stat, "cpu");
  ProcessorTicks sum;
  for (const int core : cores) {
    const ProcessorTicks ticks = TicksInLine(stat, "cpu" + std::to_string(core));
    sum.idle += ticks.idle;
    sum.all += ticks.all;
  }
  return sum;
}

std::vector<int> AllowedCores() {
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof(set), &set) != 0) {
    throw MissingBackendError(std::string("the cores of this process are not known: ") +
                              std::strerror(errno));
  }
  std::vector<int> cores;
  if (CPU_COUNT(&set) >= ::sysconf(_SC_NPROCESSORS_ONLN)) return cores;
  for (int core = 0; core < CPU_SETSIZE; ++core) {
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  }
  return cores;
}

ProcessorWatch::ProcessorWatch(const std::string& stat)
    : stat_(stat), file_(::open(stat.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (file_.get() < 0) {
    record_.error = stat_ + ": " + std::strerror(errno);
    return;
  }
  try {
    thread_ = std::thread([this] { Watch(); });
  } catch (const std::system_error& error) {
    record_.error = std::string("there is no thread to watch the processor: ") + error.what();
  }
}

ProcessorWatch::~ProcessorWatch() { Stop(); }

const ProcessorRecord& ProcessorWatch::Stop() {
  stopping_ = true;
  if (thread_.joinable()) thread_.join();
  return record_;
}

void ProcessorWatch::Watch() noexcept {
  try {
    // Otherwise the kernel may wake this thread up to 50 us late on purpose.
    if (::prctl(PR_SET_TIMERSLACK, 1UL) != 0) {
      throw MissingBackendError("the kernel does not let threads wake up on time");
    }
    cores_ = AllowedCores();
    text_.resize(cores_.empty() ? kFirstLineBytes : kAllLinesBytes);
    FillSlots();
  } catch (const std::exception& error) {
    record_.error = error.what();
  }
}

void ProcessorWatch::FillSlots() {
  due_ = Clock::now();
  ProcessorSlot first{.due = due_, .ticks_at = {}, .ticks = {}};
  Look(first);
  while (!stopping_) {
    if (record_.slots.size() >= kMostSlots) {
      throw MissingBackendError("only the first day of a run is watched");
    }
    due_ += kProbePeriod;
    ProcessorSlot slot{.due = due_, .ticks_at = {}, .ticks = {}};
    while (slot.probes < kProbesPerSlot && Probe(slot)) {
    }
    Look(slot);
  }
}

// The next probe is due a period after this one was due, however late this one was. So all probes
// that fall into a delay see the part of it that is left.
bool ProcessorWatch::Probe(ProcessorSlot& slot) {
  if (slot.probes > 0) due_ += kProbePeriod;
  SleepUntil(due_);
  const Clock::time_point now = Clock::now();
  if (now - due_ > kPause) {
    record_.pauses.push_back({due_, now});
    due_ = now;
    return false;
  }
  const std::chrono::duration<float, std::milli> late = now - due_;
  slot.late_ms.at(static_cast<std::size_t>(slot.probes)) = late.count();
  ++slot.probes;
  return !stopping_;
}

void ProcessorWatch::Look(ProcessorSlot& slot) {
  const ssize_t count = ::pread(file_.get(), text_.data(), text_.size(), 0);
  if (count < 0) throw MissingBackendError(stat_ + ": " + std::strerror(errno));
  slot.ticks_at = Clock::now();
  slot.ticks = ParseProcessorTicks({text_.data(), static_cast<std::size_t>(count)}, cores_);
  record_.slots.push_back(slot);
}

}  // namespace ringside

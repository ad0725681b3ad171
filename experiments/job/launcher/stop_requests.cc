#include "ringside/experiments/job/launcher/stop_requests.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ringside/common/base/awake_clock.h"
#include "ringside/common/base/dilated_clock.h"

namespace ringside {
namespace {

// How long an interrupted job has to stop by itself, in the run's time. Slurm and Kubernetes kill
// after 30 s.
constexpr std::chrono::duration<double> kDrainLimit{10};
// How long Ctrl-Z waits until all members know that the coordinator will be silent.
constexpr std::chrono::milliseconds kSuspendGrace{2'000};
// The members' last answer may have come so long before this process was stopped.
constexpr std::chrono::milliseconds kBeforeAStop{1'000};

}  // namespace

StopRequests::StopRequests(SignalWatch& signals, JobState& job_state, Console& console,
                           double timeout_s)
    : signals_(signals),
      job_state_(job_state),
      console_(console),
      drain_limit_(DilatedClock::ToMachine(
          std::min(kDrainLimit, std::chrono::duration<double>(timeout_s)))) {}

void StopRequests::Begin() { excused_until_ = LastStop().end; }

std::optional<std::string> StopRequests::Take() {
  int count = signals_.Take();
  if (count > 0 && !std::exchange(signalled_, true)) {
    --count;
    job_state_.RequestDrain();
  }
  // On several hosts the signal may have come to an agent.
  if (!drain_end_ && job_state_.draining()) {
    // By `AwakeNow`: a user who stops the run by Ctrl-Z does not use up its time.
    drain_end_ = AwakeNow() + std::chrono::duration_cast<Clock::duration>(drain_limit_);
    console_.Print("stopping after the current step; a second signal kills the run");
  }
  if (count > 0) return "interrupted: killed before all workers had stopped";
  if (!drain_end_ || AwakeNow() <= *drain_end_) return std::nullopt;
  return fmt::format("interrupted: the workers did not stop within {} s", drain_limit_.count());
}

void StopRequests::TakeSuspension() {
  if (suspend_watch_.TakeRequest() && !suspend_at_) {
    job_state_.Suspend();
    suspend_at_ = Clock::now() + kSuspendGrace;
  }
  if (!suspend_at_ || (!job_state_.AllKnowSuspension() && Clock::now() < *suspend_at_)) return;
  suspend_at_.reset();
  console_.EndProgress();
  SuspendWatch::StopThisProcess();
  excused_until_ = LastStop().end;  // This one: the clock is looked at now.
  job_state_.Resume();
}

bool StopRequests::Requested() {
  if (signals_.Take() > 0) job_state_.RequestDrain();
  return job_state_.draining();
}

bool StopRequests::WasStoppedTooLong() const {
  const ProcessStop stop = LastStop();
  const std::chrono::nanoseconds lease = DilatedClock::ToMachine(kLease);
  return stop.end > excused_until_ && stop.length > lease - kBeforeAStop &&
         Clock::now() - stop.end < lease;
}

}  // namespace ringside

#include "ringside/experiments/system/processes/suspend_watch.h"

#include <atomic>

namespace ringside {
namespace {

// A signal handler takes no argument for our data.
std::atomic<bool> requested{false};
static_assert(std::atomic<bool>::is_always_lock_free);

extern "C" void MarkRequest(int /*signal*/) { requested.store(true); }

}  // namespace

SuspendWatch::SuspendWatch() {
  // Here and below: `sigaction` fails only for a number that is no signal, for SIGKILL and SIGSTOP,
  // and for a bad address.
  static_cast<void>(::sigaction(SIGTSTP, nullptr, &old_));
  if (old_.sa_handler == SIG_IGN) return;  // As a shell without job control asked for.
  struct sigaction action {};
  action.sa_handler = MarkRequest;
  action.sa_flags = SA_RESTART;
  static_cast<void>(::sigaction(SIGTSTP, &action, nullptr));
}

SuspendWatch::~SuspendWatch() {
  static_cast<void>(::sigaction(SIGTSTP, &old_, nullptr));
  if (TakeRequest()) StopThisProcess();
}

bool SuspendWatch::TakeRequest() { return requested.exchange(false); }

// SIGSTOP always stops, and `raise` fails only for a number that is no signal.
void SuspendWatch::StopThisProcess() { static_cast<void>(::raise(SIGSTOP)); }

}  // namespace ringside

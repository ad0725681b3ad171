#include "ringside/experiments/lesson/lesson_process.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <chrono>

namespace ringside {
namespace {

constexpr std::chrono::milliseconds kTick{50};
// A run that is interrupted has 10 s to end its step. Then it ends its processes.
constexpr std::chrono::seconds kGrace{20};
constexpr std::chrono::seconds kEndAfterKill{10};
constexpr int kNoSignals = -1;

}  // namespace

LessonStatus LessonProcess::Wait(SignalWatch& signals, const Deadline& deadline,
                                 const std::function<void()>& tick) {
  LessonStatus status = LessonStatus::kDone;
  while (!process_.Poll() && status == LessonStatus::kDone) {
    Read(signals.fd());
    tick();
    if (signals.Take() > 0) {
      status = LessonStatus::kInterrupted;
    } else if (deadline.expired()) {
      status = LessonStatus::kTimedOut;
    }
  }
  if (status != LessonStatus::kDone) End();
  Read(kNoSignals);
  return status;
}

int LessonProcess::exit_code() {
  const auto& end = process_.Poll();
  if (!end) return -1;
  return end->signal == 0 ? end->code : 128 + end->signal;
}

/// Waits a short time for output or a signal, then reads all output that is there.
void LessonProcess::Read(int signal_fd) {
  std::array<pollfd, 2> fds{pollfd{process_.output_fd(), POLLIN, 0}, pollfd{signal_fd, POLLIN, 0}};
  // If it fails, this round was shorter. The descriptors do not block.
  ::poll(fds.data(), fds.size(), static_cast<int>(kTick.count()));
  std::array<char, 4096> piece;
  ssize_t bytes = 0;
  while ((bytes = ::read(process_.output_fd(), piece.data(), piece.size())) > 0) {
    output_.append(piece.data(), static_cast<std::size_t>(bytes));
  }
}

void LessonProcess::End() {
  process_.Signal(SIGINT);
  const Deadline deadline = Deadline::After(kGrace);
  while (!process_.Poll() && !deadline.expired()) Read(kNoSignals);
  if (!process_.Poll()) process_.Signal(SIGKILL);
  // The kernel cannot end a process whose disk or file server does not answer. It is left alone.
  const Deadline killed = Deadline::After(kEndAfterKill);
  while (!process_.Poll() && !killed.expired()) Read(kNoSignals);
}

}  // namespace ringside

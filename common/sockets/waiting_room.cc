#include "ringside/common/sockets/waiting_room.h"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <utility>

#include "ringside/common/base/dilated_clock.h"
#include "ringside/common/sockets/tcp_socket.h"

namespace ringside {
namespace {

bool IsLackOfRoom(int error) {
  return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM;
}

}  // namespace

WaitingRoom::WaitingRoom(FileDescriptor listener, Judge judge, const Options& options)
    : listener_(std::move(listener)), judge_(std::move(judge)), options_(options) {}

void WaitingRoom::AddTo(std::vector<pollfd>& entries) const {
  // Where there was no room, the caller's wait ends after a tick.
  if (!full_) entries.push_back({.fd = listener_.get(), .events = POLLIN, .revents = 0});
  for (const Waiting& waiting : waiting_) {
    entries.push_back({.fd = waiting.visitor.socket.get(), .events = POLLIN, .revents = 0});
  }
}

std::vector<WaitingRoom::Visitor> WaitingRoom::Take() {
  std::vector<Visitor> admitted;
  JudgeAll(admitted);  // before newcomers make anybody leave
  Accept();
  JudgeAll(admitted);
  return admitted;
}

void WaitingRoom::Accept() {
  full_ = false;
  // No more than there is room for, so that each of them is judged before it has to leave.
  for (std::size_t accepted = 0; accepted < options_.most; ++accepted) {
    FileDescriptor socket(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    const int error = socket.get() < 0 ? errno : 0;
    if (IsLackOfRoom(error) && !waiting_.empty()) {
      waiting_.pop_front();
      continue;
    }
    full_ = IsLackOfRoom(error);
    if (full_ || error == EAGAIN || error == EWOULDBLOCK) return;
    if (error != 0) continue;  // from a connection that has ended already
    SetNoDelay(socket.get());
    SetKeepAlive(socket.get());
    if (waiting_.size() >= options_.most) waiting_.pop_front();
    waiting_.push_back({.visitor = {.socket = std::move(socket)},
                        .leaves = Deadline::After(DilatedClock::ToMachine(options_.patience))});
  }
}

void WaitingRoom::JudgeAll(std::vector<Visitor>& admitted) {
  for (auto waiting = waiting_.begin(); waiting != waiting_.end();) {
    const Verdict verdict = judge_(waiting->visitor);
    if (verdict == Verdict::kAdmit) admitted.push_back(std::move(waiting->visitor));
    const bool stays = verdict == Verdict::kLater && !waiting->leaves.expired();
    waiting = stays ? std::next(waiting) : waiting_.erase(waiting);
  }
}

WaitingRoom::Verdict WaitingRoom::Hear(Visitor& visitor, std::size_t bytes) {
  while (visitor.heard.size() < bytes) {
    const std::size_t before = visitor.heard.size();
    visitor.heard.resize(bytes);
    const ssize_t count =
        recv(visitor.socket.get(), visitor.heard.data() + before, bytes - before, MSG_DONTWAIT);
    const int error = count < 0 ? errno : 0;
    visitor.heard.resize(before + static_cast<std::size_t>(std::max<ssize_t>(count, 0)));
    if (error == EINTR) continue;
    if (error == EAGAIN || error == EWOULDBLOCK) return Verdict::kLater;
    if (count <= 0) return Verdict::kRefuse;
  }
  return Verdict::kAdmit;
}

}  // namespace ringside

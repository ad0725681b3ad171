#include "ringside/paramserver/worker/send_windows.h"

#include <algorithm>

namespace ringside {

SendWindows::SendWindows(const std::vector<SendLimits>& limits, int slices) {
  for (const SendLimits& server : limits) {
    State& state = servers_.emplace_back();
    state.limits = server;
    state.unanswered.reserve(static_cast<std::size_t>(slices));
  }
}

void SendWindows::Queue(int server) {
  if (std::ranges::none_of(servers_, &State::active)) {
    for (State& state : servers_) state.begun = 0;
  }
  ++At(server).queued;
}

void SendWindows::Begin(int server, int position, std::size_t bytes, std::size_t answer) {
  const std::size_t in_window = std::max(bytes, answer);
  State& state = At(server);
  --state.queued;
  state.unsent += bytes;
  state.begun += static_cast<double>(in_window);
  ++state.open;
  if (state.limits.unanswered && in_window > 0) state.unanswered.push_back({position, in_window});
}

void SendWindows::Sent(int server, std::size_t bytes) { At(server).unsent -= bytes; }

void SendWindows::Answered(int server, int position) {
  --At(server).open;
  std::vector<Unanswered>& unanswered = At(server).unanswered;
  const auto found = std::ranges::find(unanswered, position, &Unanswered::position);
  if (found == unanswered.end()) return;
  *found = unanswered.back();
  unanswered.pop_back();
}

bool SendWindows::MayBegin(int server, int position, std::size_t bytes, std::size_t answer) const {
  const std::size_t in_window = std::max(bytes, answer);
  const State& state = At(server);
  if (state.unsent > 0 && state.unsent + bytes > state.limits.unsent) return false;
  const std::optional<std::size_t>& limit =
      bytes == 0 ? state.limits.pulled : state.limits.unanswered;
  if (!limit || in_window == 0) return true;
  std::size_t before = 0;
  for (const Unanswered& slice : state.unanswered) {
    if (slice.position < position) before += slice.bytes;
  }
  return before == 0 || before + in_window <= *limit;
}

double SendWindows::Begun(int server) const {
  const State& state = At(server);
  return state.limits.share > 0 ? state.begun / state.limits.share : state.begun;
}

}  // namespace ringside

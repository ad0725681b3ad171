#include "paramserver/send_windows.h"

#include <algorithm>
#include <limits>

#include "paramserver/server_assignment.h"

namespace ringside {
namespace {

// The best of those tried between four emulated hosts (README.md).
constexpr std::size_t kLeastPacedWindow = std::size_t{512} << 10;  // of the largest share
constexpr std::size_t kLeastWindow = std::size_t{2} << 20;
constexpr std::size_t kMostWindow = std::size_t{8} << 20;
constexpr std::size_t kUnansweredBuckets = 8;
constexpr std::size_t kLeastUnanswered = std::size_t{4} << 20;

// A server with so much of the largest share has not the same one: that differs by a bucket or two.
constexpr double kSmaller = 0.75;

/// A tensor that is larger than the rest makes no larger window.
std::size_t MeanBucketBytes(const BucketPlan& plan) {
  const auto buckets = static_cast<std::size_t>(std::max(plan.buckets(), 1));
  return plan.elements() * sizeof(float) / buckets;
}

std::size_t TwoBuckets(const BucketPlan& plan, std::size_t least) {
  return std::clamp(2 * MeanBucketBytes(plan), least, kMostWindow);
}

bool TwoKinds(const World& world) {
  return world.dedicated_servers() > 0 && world.colocated_servers > 0;
}

}  // namespace

std::vector<ServerShare> ShareLink(const BucketPlan& plan, const std::vector<int>& server_of,
                                   const World& world, SendOrder order) {
  std::vector<ServerShare> shares;
  for (const double of_plan : ServerShares(plan, server_of, world.servers)) {
    ServerShare share{.of_plan = of_plan, .window = TwoBuckets(plan, kLeastWindow)};
    // By priority each pushes what it has at the moment: what others lack may be what they hold
    // back.
    if (world.workers > 1 && order == SendOrder::kFifo) {
      share.unanswered = std::max(kUnansweredBuckets * MeanBucketBytes(plan), kLeastUnanswered);
    }
    shares.push_back(share);
  }
  if (!TwoKinds(world)) return shares;
  const double largest = std::ranges::max_element(shares, {}, &ServerShare::of_plan)->of_plan;
  const std::size_t window = TwoBuckets(plan, kLeastPacedWindow);
  for (ServerShare& share : shares) {
    const double part = largest > 0 ? share.of_plan / largest : 1;
    share.window = static_cast<std::size_t>(static_cast<double>(window) * part);
    share.in_turns = true;
    if (part < kSmaller) share.ahead = window;
  }
  return shares;
}

SendWindows::SendWindows(const std::vector<ServerShare>& shares) {
  for (const ServerShare& share : shares) servers_.push_back({.share = share});
}

void SendWindows::Queue(int server) {
  // A step begins: what servers were ahead by in the last is no matter.
  if (std::ranges::none_of(servers_, &State::active)) {
    for (State& state : servers_) state.sent = 0;
  }
  State& state = at(server);
  if (const double slowest = Slowest(/*leading=*/false);
      !state.active() && slowest < std::numeric_limits<double>::infinity()) {
    state.sent = std::max(state.sent, slowest);
  }
  ++state.queued;
}

void SendWindows::Begin(int server, std::size_t bytes, Clock::time_point now) {
  State& state = at(server);
  --state.queued;
  ++state.under_way;
  state.unsent += bytes;
  if (state.unanswered == 0) state.silent_since = now;
  state.unanswered += bytes;
}

void SendWindows::Sent(int server, std::size_t bytes) {
  State& state = at(server);
  --state.under_way;
  state.unsent -= bytes;
  if (state.share.of_plan > 0) state.sent += static_cast<double>(bytes) / state.share.of_plan;
}

void SendWindows::Answered(int server, std::size_t bytes, Clock::time_point now) {
  State& state = at(server);
  state.unanswered -= bytes;
  state.silent_since = now;
}

bool SendWindows::MayBegin(int server, std::size_t bytes, Clock::time_point now) const {
  const State& state = at(server);
  if (state.unsent > 0 && state.unsent + bytes > state.share.window) return false;
  if (IsFarAhead(state) && now - state.silent_since < kSilence) return false;
  return !state.share.ahead ||
         Begun(server) <= Slowest(/*leading=*/true) + static_cast<double>(*state.share.ahead);
}

bool SendWindows::IsFarAhead(const State& state) {
  return state.share.unanswered && state.unanswered >= *state.share.unanswered;
}

double SendWindows::Begun(int server) const {
  const State& state = at(server);
  if (state.share.of_plan == 0) return state.sent;
  return state.sent + static_cast<double>(state.unsent) / state.share.of_plan;
}

double SendWindows::Slowest(bool leading) const {
  double slowest = std::numeric_limits<double>::infinity();
  for (const State& state : servers_) {
    if (!state.active() || (leading && state.share.ahead)) continue;
    slowest = std::min(slowest, state.sent);
  }
  return slowest;
}

}  // namespace ringside

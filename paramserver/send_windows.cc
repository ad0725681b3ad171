#include "paramserver/send_windows.h"

#include <algorithm>
#include <limits>

#include "paramserver/server_assignment.h"

namespace ringside {
namespace {

// The best of those tried between four emulated hosts (README.md).
struct Limits {
  std::size_t window_buckets;
  std::size_t least_window;
  std::size_t unanswered_buckets;
  std::size_t least_unanswered;
};
constexpr Limits kOneHost{2, std::size_t{2} << 20, 8, std::size_t{4} << 20};
constexpr Limits kAcrossHosts{1, std::size_t{1} << 20, 4, std::size_t{2} << 20};
constexpr Limits kTwoKinds{2, std::size_t{512} << 10, 8, std::size_t{4} << 20};  // largest share
constexpr std::size_t kMostWindow = std::size_t{8} << 20;

// A server with so much of the largest share has not the same one: that differs by a bucket or two.
constexpr double kSmaller = 0.75;

/// A tensor that is larger than the rest makes no larger window.
std::size_t MeanBucketBytes(const BucketPlan& plan) {
  const auto buckets = static_cast<std::size_t>(std::max(plan.buckets(), 1));
  return plan.elements() * sizeof(float) / buckets;
}

std::size_t WindowOf(const BucketPlan& plan, const Limits& limits) {
  return std::clamp(limits.window_buckets * MeanBucketBytes(plan), limits.least_window,
                    kMostWindow);
}

bool TwoKinds(const World& world) {
  return world.dedicated_servers() > 0 && world.colocated_servers > 0;
}

}  // namespace

std::vector<ServerShare> ShareLink(const BucketPlan& plan, const std::vector<int>& server_of,
                                   const World& world, SendOrder order, Reach reach) {
  const bool two_kinds = TwoKinds(world);
  const Limits& of_one_kind = reach == Reach::kOneHost ? kOneHost : kAcrossHosts;
  const Limits& limits = two_kinds ? kTwoKinds : of_one_kind;
  const std::size_t window = WindowOf(plan, limits);
  std::vector<ServerShare> shares;
  for (const double of_plan : ServerShares(plan, server_of, world.servers)) {
    ServerShare share{.of_plan = of_plan, .window = window};
    // By priority each pushes what it has at the moment: what others lack may be what they hold
    // back.
    if (world.workers > 1 && order == SendOrder::kFifo) {
      share.unanswered =
          std::max(limits.unanswered_buckets * MeanBucketBytes(plan), limits.least_unanswered);
    }
    shares.push_back(share);
  }
  if (!two_kinds) return shares;
  const double largest = std::ranges::max_element(shares, {}, &ServerShare::of_plan)->of_plan;
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

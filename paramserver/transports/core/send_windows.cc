#include "ringside/paramserver/transports/core/send_windows.h"

#include <algorithm>
#include <limits>

#include "ringside/paramserver/transports/core/server_assignment.h"

namespace ringside {
namespace {

// The best values of those tried between four emulated hosts (results/notes/paramserver.md).
struct Limits {
  std::size_t window_buckets;
  std::size_t least_window;
  std::size_t unanswered_buckets;
  std::size_t least_unanswered;
};
constexpr Limits kIntraHost{2, std::size_t{2} << 20, 8, std::size_t{4} << 20};
constexpr Limits kInterHost{1, std::size_t{1} << 20, 4, std::size_t{2} << 20};
constexpr Limits kMixedServers{2, std::size_t{512} << 10, 8,
                               std::size_t{4} << 20};  // largest share
constexpr std::size_t kMostWindow = std::size_t{8} << 20;

// A share counts as smaller below this part of the largest share. Equal shares may still differ by
// a bucket or two.
constexpr double kSmaller = 0.75;

/// The mean, so that one large tensor does not enlarge the window.
std::size_t MeanBucketBytes(const BucketPlan& plan) {
  const auto buckets = static_cast<std::size_t>(std::max(plan.buckets(), 1));
  return plan.elements() * sizeof(float) / buckets;
}

std::size_t WindowOf(const BucketPlan& plan, const Limits& limits) {
  return std::clamp(limits.window_buckets * MeanBucketBytes(plan), limits.least_window,
                    kMostWindow);
}

bool HasMixedServers(const World& world) {
  return world.dedicated_servers() > 0 && world.colocated_servers > 0;
}

}  // namespace

std::vector<ServerSendLimits> PlanSendLimits(const BucketPlan& plan,
                                             const std::vector<int>& server_of, const World& world,
                                             SendOrder order, LinkScope reach) {
  const bool two_kinds = HasMixedServers(world);
  const Limits& of_one_kind = reach == LinkScope::kIntraHost ? kIntraHost : kInterHost;
  const Limits& limits = two_kinds ? kMixedServers : of_one_kind;
  const std::size_t window = WindowOf(plan, limits);
  std::vector<ServerSendLimits> shares;
  for (const double plan_fraction : ServerShares(plan, server_of, world.servers)) {
    ServerSendLimits share{.plan_fraction = plan_fraction, .window = window};
    // With priorities each worker pushes the most urgent bucket that it has. The bucket that others
    // lack may be one that these limits would delay.
    if (world.workers > 1 && order == SendOrder::kFifo) {
      share.unanswered =
          std::max(limits.unanswered_buckets * MeanBucketBytes(plan), limits.least_unanswered);
    }
    shares.push_back(share);
  }
  if (!two_kinds) return shares;
  const double largest =
      std::ranges::max_element(shares, {}, &ServerSendLimits::plan_fraction)->plan_fraction;
  for (ServerSendLimits& share : shares) {
    const double part = largest > 0 ? share.plan_fraction / largest : 1;
    share.window = static_cast<std::size_t>(static_cast<double>(window) * part);
    share.in_turns = true;
    if (part < kSmaller) share.ahead = window;
  }
  return shares;
}

SendWindows::SendWindows(const std::vector<ServerSendLimits>& shares) {
  for (const ServerSendLimits& share : shares) servers_.push_back({.share = share});
}

void SendWindows::Queue(int server) {
  // A step begins. The lead of a server in the last step no longer counts.
  if (std::ranges::none_of(servers_, &State::active)) {
    for (State& state : servers_) state.sent = 0;
  }
  State& state = At(server);
  if (const double slowest = Slowest(/*leading=*/false);
      !state.active() && slowest < std::numeric_limits<double>::infinity()) {
    state.sent = std::max(state.sent, slowest);
  }
  ++state.queued;
}

void SendWindows::Begin(int server, std::size_t bytes, Clock::time_point now) {
  State& state = At(server);
  --state.queued;
  ++state.under_way;
  state.unsent += bytes;
  if (state.unanswered == 0) state.silent_since = now;
  state.unanswered += bytes;
}

void SendWindows::Sent(int server, std::size_t bytes) {
  State& state = At(server);
  --state.under_way;
  state.unsent -= bytes;
  if (state.share.plan_fraction > 0)
    state.sent += static_cast<double>(bytes) / state.share.plan_fraction;
}

void SendWindows::Answered(int server, std::size_t bytes, Clock::time_point now) {
  State& state = At(server);
  state.unanswered -= bytes;
  state.silent_since = now;
}

bool SendWindows::MayBegin(int server, std::size_t bytes, Clock::time_point now) const {
  const State& state = At(server);
  if (state.unsent > 0 && state.unsent + bytes > state.share.window) return false;
  if (IsFarAhead(state) && now - state.silent_since < kSilence) return false;
  return !state.share.ahead ||
         Begun(server) <= Slowest(/*leading=*/true) + static_cast<double>(*state.share.ahead);
}

bool SendWindows::IsFarAhead(const State& state) {
  return state.share.unanswered && state.unanswered >= *state.share.unanswered;
}

double SendWindows::Begun(int server) const {
  const State& state = At(server);
  if (state.share.plan_fraction == 0) return state.sent;
  return state.sent + static_cast<double>(state.unsent) / state.share.plan_fraction;
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

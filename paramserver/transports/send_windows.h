#ifndef RINGSIDE_PARAMSERVER_TRANSPORTS_SEND_WINDOWS_H_
#define RINGSIDE_PARAMSERVER_TRANSPORTS_SEND_WINDOWS_H_

#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

#include "ringside/common/core/bucket_plan.h"
#include "ringside/common/core/world.h"
#include "ringside/common/strategy/strategy_options.h"

namespace ringside {

/// The limits on what a worker sends to one server.
struct ServerSendLimits {
  double plan_fraction = 0;  ///< The server's part of the plan's elements.
  /// The most bytes that may wait for the kernel to take them. One bucket always may.
  std::size_t window = std::size_t{8} << 20;
  /// The most bytes of a connection that may wait unsent in the kernel, where their order is fixed.
  std::size_t kernel_unsent = std::size_t{128} << 10;
  /// A bucket may begin while fewer bytes than this are unanswered. Absent: always.
  std::optional<std::size_t> unanswered{};
  /// Calls use the connections in turns. Otherwise even buckets use one, odd buckets the other.
  bool in_turns = false;
  /// How many bytes of the plan the server may be ahead of any server that has something to send
  /// and has no such limit.
  std::optional<std::size_t> ahead{};
};

/// Where pushes travel. Within a host cores are the limit, and one idles while a server has no
/// data. Between hosts links are the limit: what travels together ends together, without overlap.
enum class LinkScope { kIntraHost, kInterHost };

/// Divides a worker's link among servers. TCP gives each connection the same, which is right for
/// servers of one kind. There a window is two buckets, from 2 MiB, within a host, and one, from 1
/// MiB, between hosts; 8 MiB at most. With two kinds the larger shares would end last and alone, so
/// servers with smaller shares may not run ahead of them. Where workers push in one order, eight
/// buckets, from 4 MiB, may be unanswered; half as much between hosts with servers of one kind.
/// Sizes are those of fp32: encoded buckets are shorter, so more of them fit. Pure.
std::vector<ServerSendLimits> PlanSendLimits(const BucketPlan& plan,
                                             const std::vector<int>& server_of, const World& world,
                                             SendOrder order, LinkScope reach);

/// Decides which servers a worker may send to. The progress of a server is what the kernel has
/// taken, over its share. One that has had nothing to send begins where the slowest other is, and
/// all at 0 when none had. Servers without a limit `ahead` wait for no other, so none waits for
/// ever.
///
/// A server answers a bucket when the last worker has pushed it, so the unanswered bytes tell how
/// far this worker is ahead. If it is far ahead it leaves the server's link to the others: TCP does
/// not share the link evenly, and the slowest worker cannot quickly make up its delay alone. But a
/// server that is silent for a while may wait for a worker that does not send, or pushes in another
/// order. Then the limit is off until it answers, as it is where answers take that long anyway. Not
/// thread-safe.
class SendWindows {
 public:
  using Clock = std::chrono::steady_clock;
  /// After a server has been silent this long, its unanswered bytes no longer count.
  static constexpr std::chrono::milliseconds kSilence{100};

  explicit SendWindows(const std::vector<ServerSendLimits>& shares);

  /// A bucket waits, is given to the transport, is taken by the kernel, is answered.
  void Queue(int server);
  void Begin(int server, std::size_t bytes, Clock::time_point now);
  void Sent(int server, std::size_t bytes);
  void Answered(int server, std::size_t bytes, Clock::time_point now);

  /// Whether a bucket may begin. The answer may change by time alone, within `kSilence`.
  bool MayBegin(int server, std::size_t bytes, Clock::time_point now) const;
  /// The server's progress in bytes of the plan, with all that has begun. The least goes first.
  double Begun(int server) const;

 private:
  struct State {
    ServerSendLimits share;
    int queued = 0, under_way = 0;  // buckets
    std::size_t unsent = 0, unanswered = 0;
    Clock::time_point silent_since{};  // while something is unanswered
    double sent = 0;                   // bytes / plan_fraction
    bool active() const { return queued + under_way > 0; }
  };

  State& at(int server) { return servers_[static_cast<std::size_t>(server)]; }
  const State& at(int server) const { return servers_[static_cast<std::size_t>(server)]; }
  static bool IsFarAhead(const State& state);
  /// The least progress of the servers that have something to send; infinite without any.
  /// `leading`: only of those without a limit `ahead`.
  double Slowest(bool leading) const;

  std::vector<State> servers_;
};

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_TRANSPORTS_SEND_WINDOWS_H_

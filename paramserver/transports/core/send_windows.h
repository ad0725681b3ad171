#ifndef RINGSIDE_PARAMSERVER_TRANSPORTS_CORE_SEND_WINDOWS_H_
#define RINGSIDE_PARAMSERVER_TRANSPORTS_CORE_SEND_WINDOWS_H_

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
  double plan_fraction = 0;  ///< The server's share of the plan's elements.
  /// The most bytes that may wait until the kernel takes them. One bucket may always wait.
  std::size_t window = std::size_t{8} << 20;
  /// The most unsent bytes of a connection in the kernel, where their order can no longer change.
  std::size_t kernel_unsent = std::size_t{128} << 10;
  /// A bucket may begin while fewer bytes than this are unanswered. Absent: no limit.
  std::optional<std::size_t> unanswered{};
  /// Calls use the connections in turn. Otherwise even buckets use one, odd buckets the other.
  bool in_turns = false;
  /// How far the server may be ahead, in bytes of the plan, of any server that has something to
  /// send and has no such limit.
  std::optional<std::size_t> ahead{};
};

/// Where pushes travel. Within a host the cores are the limit, and a core idles while a server has
/// no data. Between hosts the links are the limit. Buckets that travel at the same time also end at
/// the same time. Then no push is left that could travel while their answers do.
enum class LinkScope { kIntraHost, kInterHost };

/// Divides a worker's link among the servers. TCP gives each connection an equal share, which is
/// right for servers of one kind. For these a window is two buckets (at least 2 MiB) within a host
/// and one bucket (at least 1 MiB) between hosts, at most 8 MiB. With servers of two kinds, the
/// larger shares would end last. So servers with smaller shares may not run ahead of them. If
/// workers push in one order, eight buckets (at least 4 MiB) may be unanswered; between hosts with
/// servers of one kind it is half as much. Sizes are those of fp32. Encoded buckets are shorter, so
/// more of them fit. Pure.
std::vector<ServerSendLimits> PlanSendLimits(const BucketPlan& plan,
                                             const std::vector<int>& server_of, const World& world,
                                             SendOrder order, LinkScope reach);

/// Decides which servers a worker may send to. The progress of a server is the number of bytes that
/// the kernel has taken, divided by the server's share. A server that had nothing to send starts
/// with the least progress of the others, or with 0 if none of them had anything. A server without
/// a limit `ahead` never waits for another one, so sending always continues.
///
/// A server answers a bucket when the last worker has pushed it. So the unanswered bytes show how
/// far this worker is ahead. If it is far ahead, it leaves the server's link to the others, because
/// TCP does not share the link evenly and the slowest worker cannot quickly catch up. But a server
/// that is silent for some time may wait for a worker that does not send, or that pushes in another
/// order. Then the limit is off until the server answers. It is also off where answers always take
/// that long. Not thread-safe.
class SendWindows {
 public:
  using Clock = std::chrono::steady_clock;
  /// After a server has been silent for this time, its unanswered bytes no longer count.
  static constexpr std::chrono::milliseconds kSilence{100};

  explicit SendWindows(const std::vector<ServerSendLimits>& shares);

  /// The four events of a bucket: it waits, is given to the transport, is taken by the kernel, is
  /// answered.
  void Queue(int server);
  void Begin(int server, std::size_t bytes, Clock::time_point now);
  void Sent(int server, std::size_t bytes);
  void Answered(int server, std::size_t bytes, Clock::time_point now);

  /// Whether a bucket may begin. Time alone may change the answer, within `kSilence`.
  bool MayBegin(int server, std::size_t bytes, Clock::time_point now) const;
  /// The progress of the server, in bytes of the plan, including everything that has begun. The
  /// server with the least progress is next.
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

  State& At(int server) { return servers_[static_cast<std::size_t>(server)]; }
  const State& At(int server) const { return servers_[static_cast<std::size_t>(server)]; }
  static bool IsFarAhead(const State& state);
  /// The least progress of the servers that have something to send; infinite without any.
  /// `leading`: only of those without a limit `ahead`.
  double Slowest(bool leading) const;

  std::vector<State> servers_;
};

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_TRANSPORTS_CORE_SEND_WINDOWS_H_

#ifndef RINGSIDE_PARAMSERVER_SEND_WINDOWS_H_
#define RINGSIDE_PARAMSERVER_SEND_WINDOWS_H_

#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

#include "common/bucket_plan.h"
#include "common/strategy_options.h"
#include "common/world.h"

namespace ringside {

/// A server's part of a worker's link.
struct ServerShare {
  double of_plan = 0;  ///< Of the elements.
  /// So many bytes may wait to be taken by the kernel, but always one bucket.
  std::size_t window = std::size_t{8} << 20;
  /// So many bytes of each connection may wait unsent in the kernel, where no order can reach them.
  std::size_t kernel_unsent = std::size_t{128} << 10;
  /// A bucket may begin while fewer bytes lack the server's answer. Absent: always.
  std::optional<std::size_t> unanswered{};
  /// Calls take the connections to it in turns; else buckets with even numbers one, odd the other.
  bool in_turns = false;
  /// It may be so many bytes of the plan ahead of any server that has something to send and no such
  /// limit itself.
  std::optional<std::size_t> ahead{};
};

/// What carries pushes. Within a host cores are the limit, and one of them idles while a server has
/// nothing to read; across hosts links are, and what is on its way at once ends at once and leaves
/// nothing to overlap with.
enum class Reach { kOneHost, kAcrossHosts };

/// How a worker's link is divided, by server. TCP gives each connection the same, which is right
/// where servers are of one kind: there windows are two buckets, from 2 MiB, within a host, and
/// one, from 1 MiB, across hosts; 8 MiB at most. With two kinds the larger shares would end last
/// and alone, so there the smaller ones may not run ahead of them. Where workers push in one order
/// eight buckets, from 4 MiB, may be unanswered; half as much across hosts with servers of one
/// kind. Sizes are those of fp32: a codec's buckets are shorter, and more of them fit. Pure.
std::vector<ServerShare> ShareLink(const BucketPlan& plan, const std::vector<int>& server_of,
                                   const World& world, SendOrder order, Reach reach);

/// Which servers a worker may send to. A server's progress is what the kernel has taken, over its
/// share; one that has had nothing to send begins where the others are, and all at 0 when none had.
/// Who has no limit `ahead` waits for nobody, so nobody waits for ever.
///
/// A server answers a bucket when the last worker has pushed it, so what is unanswered tells how
/// far this worker is ahead of others. Who is far ahead leaves the server's link to them: TCP does
/// not share it evenly, and what the slowest is late by it cannot make up alone at once. But a
/// server that has answered nothing for a while may wait for somebody who does not send at all, or
/// who pushes in another order: then the limit is off until it answers, as it is where answers take
/// that long anyway. Not thread-safe.
class SendWindows {
 public:
  using Clock = std::chrono::steady_clock;
  /// How long a server is silent before what it has not answered is no matter.
  static constexpr std::chrono::milliseconds kSilence{100};

  explicit SendWindows(const std::vector<ServerShare>& shares);

  /// A bucket waits, is handed to the transport, has been taken by the kernel, is answered.
  void Queue(int server);
  void Begin(int server, std::size_t bytes, Clock::time_point now);
  void Sent(int server, std::size_t bytes);
  void Answered(int server, std::size_t bytes, Clock::time_point now);

  /// What this says may change by time alone: within `kSilence`.
  bool MayBegin(int server, std::size_t bytes, Clock::time_point now) const;
  /// Of the plan, in elements' bytes, with all that has begun: who is least far goes first.
  double Begun(int server) const;

 private:
  struct State {
    ServerShare share;
    int queued = 0, under_way = 0;  // buckets
    std::size_t unsent = 0, unanswered = 0;
    Clock::time_point silent_since{};  // while something is unanswered
    double sent = 0;                   // bytes over the share
    bool active() const { return queued + under_way > 0; }
  };

  State& at(int server) { return servers_[static_cast<std::size_t>(server)]; }
  const State& at(int server) const { return servers_[static_cast<std::size_t>(server)]; }
  static bool IsFarAhead(const State& state);
  /// The least progress of those that have something to send (`leading`: and no limit `ahead`);
  /// infinite without any.
  double Slowest(bool leading) const;

  std::vector<State> servers_;
};

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_SEND_WINDOWS_H_

// Measures a link from its switch, with one connection in each direction. The receiver first lets
// the bursts of the shapers pass. Then it divides the bytes that the kernel has received since by
// the time that has passed.
#include "ringside/experiments/lab/calibration.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <deque>
#include <future>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>
#include <thread>

#include "ringside/common/base/deadline.h"
#include "ringside/common/base/errors.h"
#include "ringside/common/base/file_descriptor.h"
#include "ringside/experiments/network/calibration_plan.h"

namespace ringside {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr double kMaxConcurrentBitsPerSecond = 2.5e9;
constexpr double kGoodEnough = 0.02;
// For this many seconds, a link with a larger error than `kGoodEnough` is measured again.
constexpr double kRetrySeconds = 0.8;
constexpr double kLongRetrySeconds = 2.5;
// The bursts of both shapers, and the bytes that TCP needs to reach its speed.
constexpr double kBurstBytes = 208 << 10;
constexpr std::size_t kBufferBytes = 1 << 20;
// The interval of the checks whether to continue.
constexpr std::chrono::milliseconds kTick{20};
constexpr std::chrono::seconds kCarrierTimeout{20};

std::string Where(const Lab::Link& link) {
  return link.host >= 0 ? fmt::format("host {}", link.host) : fmt::format("rack {}", link.uplink);
}

[[noreturn]] void Fail(const Lab::Link& link, const std::string& operation) {
  throw CommError(Where(link), "calibration: " + operation, std::strerror(errno));
}

void SetSocketTimeout(const Lab::Link& link, int fd, double seconds) {
  const double whole = std::floor(seconds);
  const timeval patience{.tv_sec = static_cast<time_t>(whole),
                         .tv_usec = static_cast<suseconds_t>((seconds - whole) * 1e6)};
  // Without these timeouts a lost connection would block the calibration for good.
  for (const int direction : {SO_RCVTIMEO, SO_SNDTIMEO}) {
    if (::setsockopt(fd, SOL_SOCKET, direction, &patience, sizeof(patience)) != 0) {
      Fail(link, "setting a timeout");
    }
  }
}

FileDescriptor MakeSocket(const Lab::Link& link, double answer_timeout_s) {
  FileDescriptor made(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (made.get() < 0) Fail(link, "socket");
  SetSocketTimeout(link, made.get(), answer_timeout_s);
  return made;
}

struct Connection {
  FileDescriptor sender;
  FileDescriptor receiver;
  std::string congestion_control;  ///< Of both ends.
  double round_trip_s = 0;         ///< Of the first packets, while the link was idle.
};

tcp_info InfoOf(const Lab::Link& link, int fd) {
  tcp_info info{};
  socklen_t length = sizeof(info);
  if (::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) {
    Fail(link, "reading what TCP counts");
  }
  return info;
}

/// Asks a socket for its congestion control. Throws `MissingBackendError` when it is another one
/// than was set.
std::string CongestionControlOf(const Lab::Link& link, int fd) {
  std::array<char, 32> name{};
  socklen_t length = name.size() - 1;
  if (::getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name.data(), &length) != 0) {
    Fail(link, "reading the congestion control");
  }
  if (link.congestion_control == name.data()) return name.data();
  throw MissingBackendError(fmt::format("{}: TCP uses {} on its link, although {} was set",
                                        Where(link), name.data(), link.congestion_control));
}

/// Connects. A bridge forwards nothing through a port whose carrier it has not seen yet. On a busy
/// machine that may take longer than the kernel looks for a neighbour, so it is tried again.
FileDescriptor ConnectSender(const Lab::Link& link, const NetNamespace& from,
                             const sockaddr_in& address, double answer_timeout_s,
                             const StopCheck& check) {
  const Deadline deadline = Deadline::After(kCarrierTimeout);
  while (true) {
    FileDescriptor sender;
    {
      const NamespaceScope inside(from.fd());
      sender = MakeSocket(link, answer_timeout_s);
    }
    const auto* generic = reinterpret_cast<const sockaddr*>(&address);
    if (::connect(sender.get(), generic, sizeof(address)) == 0) return sender;
    const bool may_come = errno == EHOSTUNREACH || errno == EINTR;
    if (!may_come || deadline.expired()) Fail(link, "connecting");
    check();
    std::this_thread::sleep_for(kTick);
  }
}

/// Connects from one namespace to an address in another. Both ends use the link's congestion
/// control.
Connection Connect(const Lab::Link& link, const NetNamespace& from, const NetNamespace& to,
                   const std::string& to_address, double answer_timeout_s, const StopCheck& check) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  if (::inet_pton(AF_INET, to_address.c_str(), &address.sin_addr) != 1) {
    throw InternalError("no address of a link: " + to_address);
  }
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  socklen_t length = sizeof(address);
  FileDescriptor listener;
  {
    const NamespaceScope inside(to.fd());
    listener = MakeSocket(link, answer_timeout_s);
  }
  if (::bind(listener.get(), generic, length) != 0 || ::listen(listener.get(), 1) != 0 ||
      ::getsockname(listener.get(), generic, &length) != 0) {
    Fail(link, "listening");
  }
  Connection connection;
  connection.sender = ConnectSender(link, from, address, answer_timeout_s, check);
  connection.receiver = FileDescriptor(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (connection.receiver.get() < 0) Fail(link, "accepting");
  SetSocketTimeout(link, connection.receiver.get(), answer_timeout_s);
  connection.congestion_control = CongestionControlOf(link, connection.sender.get());
  CongestionControlOf(link, connection.receiver.get());
  connection.round_trip_s = InfoOf(link, connection.sender.get()).tcpi_min_rtt / 1e6;
  return connection;
}

/// Sends until the connection is shut.
void SendUntilShut(int fd) {
  const std::vector<char> data(kBufferBytes);
  while (::send(fd, data.data(), data.size(), MSG_NOSIGNAL) > 0 || errno == EINTR) {
  }
}

/// Bytes that the kernel has received in order, whether a thread has read them or not. A thread
/// that waits for a processor reads late, and then much at once: its own count would tell another
/// rate than the link's.
double ReceivedBytes(const Lab::Link& link, int fd) {
  return static_cast<double>(InfoOf(link, fd).tcpi_bytes_received);
}

/// Returns bytes per second over the time that the plan gives, after both shapers' bursts have
/// passed and TCP has settled.
double MeasureGoodput(const Lab::Link& link, int fd, const CalibrationPlan& plan) {
  std::vector<char> buffer(kBufferBytes);
  const Clock::time_point start = Clock::now();
  std::optional<Clock::time_point> begin;
  double bytes_before = 0;
  while (true) {
    const ssize_t count = ::recv(fd, buffer.data(), buffer.size(), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) Fail(link, "receiving");
    const double bytes = ReceivedBytes(link, fd);
    const Clock::time_point now = Clock::now();
    const double since_start = Seconds(now - start).count();
    if (!begin && bytes >= kBurstBytes && since_start >= plan.settle_s) {
      begin = now;
      bytes_before = bytes;
      continue;
    }
    const double passed = begin ? Seconds(now - *begin).count() : 0;
    if (begin && passed >= plan.timed_s) return (bytes - bytes_before) / passed;
    if (since_start > plan.longest_s()) {
      errno = ETIMEDOUT;
      Fail(link, "receiving");
    }
  }
}

/// Measures one direction of one link on two threads of its own, which end with the object.
class Flow {
 public:
  Flow(const Lab::Link& link, bool sent, CalibrationPlan plan, const StopCheck& check)
      : link_(link),
        plan_(std::move(plan)),
        connection_(sent ? Connect(link, *link.far, *link.switch_namespace, link.switch_address,
                                   plan_.answer_timeout_s, check)
                         : Connect(link, *link.switch_namespace, *link.far, link.host_address,
                                   plan_.answer_timeout_s, check)) {}
  ~Flow() {
    Shut();
    if (receiver_.joinable()) receiver_.join();
    if (sender_.joinable()) sender_.join();
  }
  Flow(const Flow&) = delete;
  Flow& operator=(const Flow&) = delete;

  const std::string& congestion_control() const { return connection_.congestion_control; }
  double round_trip_s() const { return connection_.round_trip_s; }

  /// Starts both threads. Throws `CommError` when the system has no thread left.
  void Start() {
    try {
      receiver_ = std::thread([this] { Receive(); });
      sender_ = std::thread([this] { SendUntilShut(connection_.sender.get()); });
    } catch (const std::system_error& error) {
      throw CommError(Where(link_), "calibration: starting a thread", error.what());
    }
  }

  double Wait(const StopCheck& check) {
    std::future<double> result = result_.get_future();
    while (result.wait_for(kTick) != std::future_status::ready) check();
    return result.get();
  }

 private:
  void Receive() {
    try {
      const double bytes_per_s = MeasureGoodput(link_, connection_.receiver.get(), plan_);
      // Frees the link for others before the result is published.
      Shut();
      result_.set_value(bytes_per_s);
    } catch (...) {
      Shut();
      result_.set_exception(std::current_exception());
    }
  }

  /// Shuts the connection and wakes both threads. Bytes that still arrive are answered with a
  /// reset.
  void Shut() {
    // They fail if the peer has reset the connection. Then it is shut already.
    ::shutdown(connection_.receiver.get(), SHUT_RDWR);
    ::shutdown(connection_.sender.get(), SHUT_RDWR);
  }

  const Lab::Link& link_;
  const CalibrationPlan plan_;
  const Connection connection_;
  std::promise<double> result_;
  std::thread receiver_;
  std::thread sender_;
};

struct Direction {
  std::size_t link = 0;
  bool sent = true;
};

/// Groups directions that are measured together, within a total rate; at least one in each group.
std::vector<std::vector<Direction>> Batches(const std::vector<Lab::Link>& links,
                                            const std::vector<Direction>& directions, double most) {
  std::vector<std::vector<Direction>> batches;
  double together = 0;
  for (const Direction& direction : directions) {
    const double rate = links[direction.link].rate_bits_per_s;
    if (batches.empty() || together + rate > most) {
      batches.emplace_back();
      together = 0;
    }
    together += rate;
    batches.back().push_back(direction);
  }
  return batches;
}

double RelativeError(double measured, double expected) {
  return std::abs(measured - expected) / expected;
}

double& Figure(std::vector<LinkCalibration>& results, const Direction& direction) {
  LinkCalibration& result = results[direction.link];
  return direction.sent ? result.sent_bytes_per_s : result.received_bytes_per_s;
}

CalibrationPlan PlanOf(const Lab::Link& link, const NetworkSpec& spec) {
  return link.host >= 0 ? PlanHostCalibration(spec, link.rate_bits_per_s)
                        : PlanUplinkCalibration(link.rate_bits_per_s);
}

/// Keeps the figure that is nearer to the rate. Only the machine makes two figures of one link
/// differ. A link with another rate has it every time.
void Keep(std::vector<LinkCalibration>& results, const Direction& direction, double measured) {
  const double expected = results[direction.link].expected_bytes_per_s;
  double& figure = Figure(results, direction);
  if (figure == 0 || RelativeError(measured, expected) < RelativeError(figure, expected)) {
    figure = measured;
  }
}

void Measure(const std::vector<Lab::Link>& links, const std::vector<Direction>& batch,
             const NetworkSpec& spec, std::vector<LinkCalibration>& results,
             const StopCheck& check) {
  std::deque<Flow> flows;
  for (const Direction& direction : batch) {
    check();
    flows.emplace_back(links[direction.link], direction.sent, PlanOf(links[direction.link], spec),
                       check);
  }
  for (Flow& flow : flows) flow.Start();
  for (std::size_t i = 0; i < batch.size(); ++i) {
    Keep(results, batch[i], flows[i].Wait(check));
    LinkCalibration& result = results[batch[i].link];
    result.congestion_control = flows[i].congestion_control();
    const double round_trip_s = flows[i].round_trip_s();
    result.round_trip_s = std::min(result.round_trip_s.value_or(round_trip_s), round_trip_s);
  }
}

/// Measures a batch. A signal to stop also breaks off the waits for a link. Then `check` throws, so
/// that the error does not blame the link.
void MeasureOrStop(const std::vector<Lab::Link>& links, const std::vector<Direction>& batch,
                   const NetworkSpec& spec, std::vector<LinkCalibration>& results,
                   const StopCheck& check) {
  try {
    Measure(links, batch, spec, results, check);
  } catch (const CommError&) {
    check();
    throw;
  }
}

}  // namespace

double LinkCalibration::error() const {
  return std::max(RelativeError(sent_bytes_per_s, expected_bytes_per_s),
                  RelativeError(received_bytes_per_s, expected_bytes_per_s));
}

bool LinkCalibration::ok() const { return judged() && error() <= kLinkTolerance; }

std::vector<LinkCalibration> CalibrateLinks(const Lab& lab, const StopCheck& check) {
  const std::vector<Lab::Link> links = lab.links();
  const NetworkSpec& spec = lab.plan().spec;
  std::vector<LinkCalibration> results;
  std::vector<Direction> wanted;
  for (std::size_t i = 0; i < links.size(); ++i) {
    results.push_back({.host = links[i].host,
                       .uplink = links[i].uplink,
                       .rate_bits_per_s = links[i].rate_bits_per_s,
                       .expected_bytes_per_s = GoodputBytesPerSecond(links[i].rate_bits_per_s),
                       .not_judged = PlanOf(links[i], spec).not_judged});
    wanted.push_back({i, true});
    wanted.push_back({i, false});
  }
  const Clock::time_point begin = Clock::now();
  double together = kMaxConcurrentBitsPerSecond;
  while (!wanted.empty()) {
    for (const std::vector<Direction>& batch : Batches(links, wanted, together)) {
      MeasureOrStop(links, batch, spec, results, check);
    }
    const double passed = Seconds(Clock::now() - begin).count();
    if (passed > kLongRetrySeconds) break;
    const double wrong = passed > kRetrySeconds ? kLinkTolerance : kGoodEnough;
    std::erase_if(wanted, [&](const Direction& direction) {
      const LinkCalibration& link = results[direction.link];
      return !link.judged() ||
             RelativeError(Figure(results, direction), link.expected_bytes_per_s) <= wrong;
    });
    together = 0;
  }
  return results;
}

namespace {

/// Whether all links that can be judged are as asked; null when none can be judged.
nlohmann::json AllOk(const std::vector<LinkCalibration>& links) {
  if (std::ranges::none_of(links, &LinkCalibration::judged)) return nullptr;
  return std::ranges::all_of(
      links, [](const LinkCalibration& link) { return !link.judged() || link.ok(); });
}

/// What the sockets of all links used; null if they do not agree.
nlohmann::json CommonCongestionControl(const std::vector<LinkCalibration>& links) {
  if (links.empty()) return nullptr;
  const std::string& first = links.front().congestion_control;
  const bool common = std::ranges::all_of(
      links, [&](const LinkCalibration& link) { return link.congestion_control == first; });
  return common ? nlohmann::json(first) : nlohmann::json();
}

/// In microseconds of dilated time.
nlohmann::json RoundTrip(const std::optional<double>& machine_s, double dilation) {
  if (!machine_s) return nullptr;
  return 1e6 * *machine_s / dilation;
}

}  // namespace

nlohmann::json NetworkRecord(const NetworkSpec& spec, const std::vector<LinkCalibration>& links,
                             double dilation) {
  nlohmann::json rows = nlohmann::json::array();
  for (const LinkCalibration& link : links) {
    nlohmann::json row{{"rate_bits_per_s", link.rate_bits_per_s * dilation},
                       {"expected_bytes_per_s", link.expected_bytes_per_s * dilation},
                       {"sent_bytes_per_s", link.sent_bytes_per_s * dilation},
                       {"received_bytes_per_s", link.received_bytes_per_s * dilation},
                       {"round_trip_us", RoundTrip(link.round_trip_s, dilation)},
                       {"congestion_control", link.congestion_control},
                       {"ok", link.judged() ? nlohmann::json(link.ok()) : nlohmann::json()}};
    if (!link.judged()) row["not_judged"] = link.not_judged;
    if (link.host >= 0) row["host"] = link.host;
    if (link.uplink >= 0) row["uplink"] = link.uplink;
    rows.push_back(std::move(row));
  }
  return {{"schema", "ringside.network/1"},
          {"spec", NetworkText(spec)},
          {"dilation", dilation},
          {"congestion_control", CommonCongestionControl(links)},
          {"connections", nullptr},
          {"links", rows},
          {"ok", AllOk(links)}};
}

}  // namespace ringside

// A link is measured from its switch. One connection a direction: the receiver lets the shapers'
// bursts pass, then divides bytes by the time between two arrivals.
#include "experiments/lab/calibration.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstring>
#include <exception>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "common/errors.h"

namespace ringside {
namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr double kTogetherBitsPerSecond = 2.5e9;
constexpr double kGoodEnough = 0.02;
// A link that looks worse than this is tried again for so long.
constexpr double kRetrySeconds = 0.8;
constexpr double kLongRetrySeconds = 2.5;
// Both shapers' bursts, and some that TCP takes to get going.
constexpr double kBurstBytes = 128 << 10;
constexpr double kTimedBytes = 1 << 20;
constexpr double kShortest = 0.04;
constexpr double kLongest = 0.3;
constexpr double kRoundTrips = 20;
constexpr std::size_t kBufferBytes = 1 << 20;
constexpr std::chrono::seconds kPatience{5};

std::string Where(const Lab::Link& link) {
  return link.host >= 0 ? fmt::format("host {}", link.host) : fmt::format("rack {}", link.uplink);
}

[[noreturn]] void Fail(const Lab::Link& link, const std::string& operation) {
  throw CommError(Where(link), "calibration: " + operation, std::strerror(errno));
}

FileDescriptor MakeSocket(const Lab::Link& link) {
  FileDescriptor made(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (made.get() < 0) Fail(link, "socket");
  const timeval patience{.tv_sec = kPatience.count(), .tv_usec = 0};
  ::setsockopt(made.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  ::setsockopt(made.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
  return made;
}

struct Connection {
  FileDescriptor sender;
  FileDescriptor receiver;
};

/// From one namespace to an address in another.
Connection Connect(const Lab::Link& link, const NetNamespace& from, const NetNamespace& to,
                   const std::string& to_address) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  ::inet_pton(AF_INET, to_address.c_str(), &address.sin_addr);
  auto* generic = reinterpret_cast<sockaddr*>(&address);
  socklen_t length = sizeof(address);
  FileDescriptor listener;
  {
    const NamespaceScope inside(to.fd());
    listener = MakeSocket(link);
  }
  if (::bind(listener.get(), generic, length) != 0 || ::listen(listener.get(), 1) != 0 ||
      ::getsockname(listener.get(), generic, &length) != 0) {
    Fail(link, "listening");
  }
  Connection connection;
  {
    const NamespaceScope inside(from.fd());
    connection.sender = MakeSocket(link);
  }
  if (::connect(connection.sender.get(), generic, length) != 0) Fail(link, "connecting");
  connection.receiver = FileDescriptor(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (connection.receiver.get() < 0) Fail(link, "accepting");
  const timeval patience{.tv_sec = kPatience.count(), .tv_usec = 0};
  ::setsockopt(connection.receiver.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  return connection;
}

/// Until the receiver has enough and closes.
void SendUntilClosed(int fd) {
  const std::vector<char> data(kBufferBytes);
  while (::send(fd, data.data(), data.size(), MSG_NOSIGNAL) > 0) {
  }
}

/// Bytes a second over `seconds`, once `settled_bytes` have come and `settled_seconds` passed.
double TimeArrivals(const Lab::Link& link, int fd, double settled_bytes, double settled_seconds,
                    double seconds) {
  std::vector<char> buffer(kBufferBytes);
  const Clock::time_point start = Clock::now();
  std::optional<Clock::time_point> begin;
  double bytes = 0;
  while (true) {
    const ssize_t count = ::recv(fd, buffer.data(), buffer.size(), 0);
    if (count <= 0) Fail(link, "receiving");
    const Clock::time_point now = Clock::now();
    bytes += static_cast<double>(count);
    if (!begin) {
      if (bytes < settled_bytes || Seconds(now - start).count() < settled_seconds) continue;
      begin = now;
      bytes = 0;
      continue;
    }
    const double passed = Seconds(now - *begin).count();
    if (passed >= seconds) return bytes / passed;
  }
}

/// One direction of one link, measured on two threads of its own.
class Flow {
 public:
  Flow(const Lab::Link& link, bool sent, double latency_s)
      : link_(link),
        connection_(sent ? Connect(link, *link.far, *link.hub, link.hub_address)
                         : Connect(link, *link.hub, *link.far, link.far_address)),
        settle_s_(kRoundTrips * 2 * latency_s) {}

  void Start() {
    receiver_ = std::thread([this] { Receive(); });
    sender_ = std::thread([this] { SendUntilClosed(connection_.sender.get()); });
  }
  double Finish() {
    receiver_.join();
    sender_.join();
    if (error_) std::rethrow_exception(error_);
    return bytes_per_s_;
  }

 private:
  void Receive() {
    const double bytes_per_s = GoodputBytesPerSecond(link_.rate_bits_per_s);
    const double seconds = std::clamp(kTimedBytes / bytes_per_s, kShortest, kLongest);
    try {
      bytes_per_s_ =
          TimeArrivals(link_, connection_.receiver.get(), kBurstBytes, settle_s_, seconds);
    } catch (...) {
      error_ = std::current_exception();
    }
    connection_.receiver.Close();
  }

  const Lab::Link& link_;
  Connection connection_;
  const double settle_s_;
  double bytes_per_s_ = 0;
  std::exception_ptr error_;
  std::thread receiver_;
  std::thread sender_;
};

struct Direction {
  std::size_t link = 0;
  bool sent = true;
};

/// As many at a time as stay within a rate; at least one.
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

double& Figure(std::vector<LinkCalibration>& results, const Direction& direction) {
  LinkCalibration& result = results[direction.link];
  return direction.sent ? result.sent_bytes_per_s : result.received_bytes_per_s;
}

void Measure(const std::vector<Lab::Link>& links, const std::vector<Direction>& batch,
             double latency_s, std::vector<LinkCalibration>& results) {
  std::vector<Flow> flows;
  flows.reserve(batch.size());
  for (const Direction& direction : batch) {
    flows.emplace_back(links[direction.link], direction.sent, latency_s);
  }
  for (Flow& flow : flows) flow.Start();
  std::exception_ptr error;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    try {
      double& figure = Figure(results, batch[i]);
      figure = std::max(figure, flows[i].Finish());
    } catch (...) {
      error = std::current_exception();
    }
  }
  if (error) std::rethrow_exception(error);
}

double RelativeError(double measured, double expected) {
  return std::abs(measured - expected) / expected;
}

}  // namespace

double LinkCalibration::error() const {
  return std::max(RelativeError(sent_bytes_per_s, expected_bytes_per_s),
                  RelativeError(received_bytes_per_s, expected_bytes_per_s));
}

bool LinkCalibration::ok() const { return error() <= kLinkTolerance; }

std::vector<LinkCalibration> CalibrateLinks(const Lab& lab) {
  const std::vector<Lab::Link> links = lab.links();
  std::vector<LinkCalibration> results;
  std::vector<Direction> wanted;
  for (std::size_t i = 0; i < links.size(); ++i) {
    results.push_back({.host = links[i].host,
                       .uplink = links[i].uplink,
                       .rate_bits_per_s = links[i].rate_bits_per_s,
                       .expected_bytes_per_s = GoodputBytesPerSecond(links[i].rate_bits_per_s)});
    wanted.push_back({i, true});
    wanted.push_back({i, false});
  }
  const Clock::time_point begin = Clock::now();
  double together = kTogetherBitsPerSecond;
  while (!wanted.empty()) {
    for (const std::vector<Direction>& batch : Batches(links, wanted, together)) {
      Measure(links, batch, lab.plan().spec.latency_s, results);
    }
    const double passed = Seconds(Clock::now() - begin).count();
    if (passed > kLongRetrySeconds) break;
    const double wrong = passed > kRetrySeconds ? kLinkTolerance : kGoodEnough;
    std::erase_if(wanted, [&](const Direction& direction) {
      const double expected = results[direction.link].expected_bytes_per_s;
      return Figure(results, direction) >= expected * (1 - wrong);
    });
    together = 0;
  }
  return results;
}

nlohmann::json NetworkRecord(const NetworkSpec& spec, const std::vector<LinkCalibration>& links,
                             const std::string& congestion_control) {
  nlohmann::json rows = nlohmann::json::array();
  for (const LinkCalibration& link : links) {
    nlohmann::json row{{"rate_bits_per_s", link.rate_bits_per_s},
                       {"expected_bytes_per_s", link.expected_bytes_per_s},
                       {"sent_bytes_per_s", link.sent_bytes_per_s},
                       {"received_bytes_per_s", link.received_bytes_per_s},
                       {"ok", link.ok()}};
    if (link.host >= 0) row["host"] = link.host;
    if (link.uplink >= 0) row["uplink"] = link.uplink;
    rows.push_back(std::move(row));
  }
  return {{"schema", "ringside.network/1"},
          {"spec", NetworkText(spec)},
          {"congestion_control", congestion_control},
          {"links", rows},
          {"ok", std::ranges::all_of(links, &LinkCalibration::ok)}};
}

}  // namespace ringside

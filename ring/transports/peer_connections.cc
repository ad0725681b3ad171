#include "ringside/ring/transports/peer_connections.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <utility>

#include "ringside/common/base/deadline.h"
#include "ringside/common/base/errors.h"
#include "ringside/common/security/greeting.h"
#include "ringside/common/sockets/tcp_socket.h"
#include "ringside/common/sockets/waiting_room.h"

namespace ringside {
namespace {

/// A peer that was turned away, because its listener was crowded, calls again after this time.
constexpr std::chrono::milliseconds kCallAgainAfter{20};

using Visitor = WaitingRoom::Visitor;
using Verdict = WaitingRoom::Verdict;

constexpr std::uint32_t kMagic = 0x47525352;  // "RSRG"
constexpr std::uint32_t kVersion = 1;

/// `visitor` has said a whole greeting. Its index is the rank of its sender.
std::span<const std::byte, kGreetingBytes> GreetingOf(const Visitor& visitor) {
  return std::span(visitor.heard).first<kGreetingBytes>();
}

class Connector {
 public:
  explicit Connector(const PeerConnectionsOptions& options);

  PeerConnections Connect();

 private:
  int own() const { return options_.world.rank; }
  bool IsPeer(int rank) const {
    return std::ranges::find(options_.peers, rank) != options_.peers.end();
  }

  FileDescriptor Listen() const;
  std::vector<std::string> ExchangeEndpoints() const;
  Verdict JudgeVisitor(Visitor& visitor);
  bool Greet(int file, int peer, const Deadline& deadline) const;
  Visitor Call(int peer, const Deadline& deadline) const;
  void Await(const Deadline& deadline) const;
  void TakeVisitors(const Deadline& deadline);
  void TakeAnswers(const Deadline& deadline);
  [[noreturn]] void ThrowMissing() const;

  const PeerConnectionsOptions& options_;
  const Greeter greeter_;
  WaitingRoom room_;
  PeerConnections made_;
  std::map<int, Visitor> calls_;  // by peer: this rank has greeted, and waits for the answer
  std::set<int> hung_up_;         // peers that have closed a connection without an answer
  int refused_ = 0;               // visitors who said something else than a peer says
  std::string last_flaw_;
};

Connector::Connector(const PeerConnectionsOptions& options)
    : options_(options),
      greeter_(kMagic, kVersion,
               HandshakeMac(options.comm.token, options.prefix, options.world.workers)),
      room_(
          Listen(), [this](Visitor& visitor) { return JudgeVisitor(visitor); },
          WaitingRoom::Options()) {}

FileDescriptor Connector::Listen() const {
  try {
    return ListenOnTcp(options_.comm.address);
  } catch (const CommError& error) {
    throw CommError(options_.name_of(own()), "listening on " + options_.comm.address,
                    error.reason());
  }
}

// `StoreAllGather` would name ranks of these links, not workers of the job.
std::vector<std::string> Connector::ExchangeEndpoints() const {
  const Deadline deadline = Deadline::After(options_.comm.rendezvous_timeout());
  const auto key = [&](int rank) {
    return fmt::format("exchange/{}/published/{}", options_.prefix, rank);
  };
  options_.store.Set(key(own()), TcpEndpointOf(room_.listener()));
  std::vector<std::string> endpoints;
  for (int rank = 0; rank < options_.world.workers; ++rank) {
    try {
      endpoints.push_back(options_.store.Get(key(rank), deadline));
    } catch (const CommError& error) {
      throw CommError(options_.name_of(rank), "exchange of addresses",
                      fmt::format("{} ({})", error.reason(), error.peer()));
    }
  }
  return endpoints;
}

PeerConnections Connector::Connect() {
  // The timeout of an operation begins when all processes are there.
  made_.endpoints = ExchangeEndpoints();
  const Deadline deadline = Deadline::After(options_.comm.timeout);
  for (const int peer : options_.peers) {
    if (peer < own()) calls_.emplace(peer, Call(peer, deadline));
  }
  while (made_.sockets.size() < options_.peers.size()) {
    if (deadline.expired()) ThrowMissing();
    Await(deadline);
    TakeVisitors(deadline);
    TakeAnswers(deadline);
  }
  return std::move(made_);
}

Verdict Connector::JudgeVisitor(Visitor& visitor) {
  const Verdict heard = WaitingRoom::Hear(visitor, kGreetingBytes);
  if (heard != Verdict::kAdmit) return heard;
  // A stranger's number must not become a rank. No rank has the number of workers.
  const auto workers = static_cast<std::uint32_t>(options_.world.workers);
  const int from = static_cast<int>(std::min(Greeter::IndexOf(GreetingOf(visitor)), workers));
  std::string flaw = greeter_.FlawOf(GreetingOf(visitor), from, own());
  if (flaw.empty() && (from <= own() || !IsPeer(from))) flaw = "it is no peer";
  if (flaw.empty()) return Verdict::kAdmit;
  ++refused_;
  last_flaw_ = std::move(flaw);
  return Verdict::kRefuse;
}

bool Connector::Greet(int file, int peer, const Deadline& deadline) const {
  return SendAll(file, greeter_.Make(static_cast<std::uint32_t>(own()), own(), peer), deadline);
}

Visitor Connector::Call(int peer, const Deadline& deadline) const {
  try {
    const std::string& endpoint = made_.endpoints[static_cast<std::size_t>(peer)];
    Visitor call{.socket = FileDescriptor(ConnectTcp(endpoint, deadline, IfRefused::kThrow))};
    // If this fails, the peer has closed the connection, and the reader notices.
    static_cast<void>(Greet(call.socket.get(), peer, deadline));
    return call;
  } catch (const CommError& error) {
    const bool ours = error.peer() == kThisProcess;
    throw CommError(options_.name_of(ours ? own() : peer), "connecting", error.reason());
  }
}

void Connector::Await(const Deadline& deadline) const {
  std::vector<pollfd> entries;
  room_.AddTo(entries);
  for (const auto& [peer, call] : calls_) {
    entries.push_back({.fd = call.socket.get(), .events = POLLIN, .revents = 0});
  }
  const auto wait = std::min(WaitingRoom::kTick, deadline.remaining());
  // If it fails, the caller looks at everything and comes back.
  static_cast<void>(poll(entries.data(), entries.size(), static_cast<int>(wait.count())));
}

void Connector::TakeVisitors(const Deadline& deadline) {
  for (Visitor& visitor : room_.Take()) {
    const int peer = static_cast<int>(Greeter::IndexOf(GreetingOf(visitor)));
    // A copy of a greeting is no second peer. A peer that has left again is still missing.
    if (made_.sockets.contains(peer)) continue;
    if (!Greet(visitor.socket.get(), peer, deadline)) continue;
    made_.sockets.emplace(peer, std::move(visitor.socket));
  }
}

void Connector::TakeAnswers(const Deadline& deadline) {
  for (auto entry = calls_.begin(); entry != calls_.end();) {
    auto& [peer, call] = *entry;
    const Verdict heard = WaitingRoom::Hear(call, kGreetingBytes);
    if (heard == Verdict::kAdmit) {
      const std::string flaw = greeter_.FlawOf(GreetingOf(call), peer, own());
      if (!flaw.empty()) throw CommError(options_.name_of(peer), "connecting", flaw);
      made_.sockets.emplace(peer, std::move(call.socket));
      entry = calls_.erase(entry);
      continue;
    }
    if (heard == Verdict::kRefuse) {
      hung_up_.insert(peer);
      const auto pause = std::min(kCallAgainAfter, deadline.remaining());
      static_cast<void>(poll(nullptr, 0, static_cast<int>(pause.count())));  // it only waits
      call = Call(peer, deadline);
    }
    ++entry;
  }
}

void Connector::ThrowMissing() const {
  const auto missing = std::ranges::find_if(
      options_.peers, [this](int peer) { return !made_.sockets.contains(peer); });
  const int peer = *missing;
  std::string reason = "it did not connect in time";
  if (peer < own()) {
    reason = hung_up_.contains(peer) ? "it closed every connection without an answer; perhaps "
                                       "its token is another one"
                                     : "it did not answer in time";
  } else if (refused_ > 0) {
    reason +=
        fmt::format("; {} connections were refused, the last one because {}", refused_, last_flaw_);
  }
  throw CommError(options_.name_of(peer), "connecting", reason);
}

}  // namespace

PeerConnections ConnectPeers(const PeerConnectionsOptions& options) {
  return Connector(options).Connect();
}

}  // namespace ringside

#include "ringside/paramserver/transports/handshake/server_handshake.h"

#include <algorithm>
#include <chrono>
#include <span>
#include <thread>

#include "ringside/common/base/errors.h"
#include "ringside/common/sockets/tcp_socket.h"
#include "ringside/paramserver/wire/wire.h"

namespace ringside {
namespace {

constexpr std::uint32_t kFramesMagic = 0x43545352;  // "RSTC"
constexpr std::uint32_t kGrpcMagic = 0x43475352;    // "RSGC"

/// A worker that was turned away calls again after this time.
constexpr std::chrono::milliseconds kCallAgainAfter{20};

/// `visitor` has said a whole greeting.
std::span<const std::byte, kGreetingBytes> GreetingOf(const WaitingRoom::Visitor& visitor) {
  return std::span(visitor.heard).first<kGreetingBytes>();
}

}  // namespace

ServerHandshake::ServerHandshake(Protocol protocol, const std::string& token, int workers,
                                 int servers)
    : workers_(workers),
      greeter_(protocol == Protocol::kGrpc ? kGrpcMagic : kFramesMagic, FrameHeader::kProtocol,
               HandshakeMac(token, "parameter server", workers + servers)) {}

Greeting ServerHandshake::OfWorker(int worker, int server) const {
  return greeter_.Make(static_cast<std::uint32_t>(worker), worker, RankOfServer(server));
}

Greeting ServerHandshake::OfServer(int server, int worker) const {
  return greeter_.Make(static_cast<std::uint32_t>(server), RankOfServer(server), worker);
}

bool ServerHandshake::Greet(int file, int worker, int server, const std::string& server_name,
                            const Deadline& deadline) const {
  Greeting theirs{};
  if (!SendAll(file, OfWorker(worker, server), deadline) || !ReceiveAll(file, theirs, deadline)) {
    if (!deadline.expired()) return false;
    throw CommError(server_name, "start", "it did not answer the greeting in time");
  }
  const std::string flaw = greeter_.FlawOf(theirs, RankOfServer(server), worker);
  if (!flaw.empty()) throw CommError(server_name, "start", flaw);
  return true;
}

void ServerHandshake::Join(int file, int worker, int server, const std::string& server_name,
                           const Deadline& deadline) const {
  if (Greet(file, worker, server, server_name, deadline)) return;
  throw CommError(server_name, "start",
                  "it has closed the connection: wrong token, or it is stopping");
}

FileDescriptor ServerHandshake::Call(const std::string& endpoint, int worker, int server,
                                     const std::string& server_name, const Deadline& deadline,
                                     IfRefused if_refused) const {
  for (int call = 1; call < kCalls; ++call) {
    FileDescriptor socket(ConnectTcp(endpoint, deadline, if_refused));
    if (Greet(socket.get(), worker, server, server_name, deadline)) return socket;
    std::this_thread::sleep_for(
        std::min<std::chrono::milliseconds>(kCallAgainAfter, deadline.remaining()));
  }
  FileDescriptor socket(ConnectTcp(endpoint, deadline, if_refused));
  Join(socket.get(), worker, server, server_name, deadline);
  return socket;
}

WaitingRoom::Verdict ServerHandshake::Judge(WaitingRoom::Visitor& visitor, int server) const {
  const WaitingRoom::Verdict heard = WaitingRoom::Hear(visitor, kGreetingBytes);
  if (heard != WaitingRoom::Verdict::kAdmit) return heard;
  // A stranger's number must not become a rank.
  if (WorkerOf(visitor) >= static_cast<std::uint32_t>(workers_)) {
    return WaitingRoom::Verdict::kRefuse;
  }
  const int worker = static_cast<int>(WorkerOf(visitor));
  if (!greeter_.FlawOf(GreetingOf(visitor), worker, RankOfServer(server)).empty()) {
    return WaitingRoom::Verdict::kRefuse;
  }
  // Nothing was sent before, so the kernel has room for the answer.
  const Deadline now = Deadline::After(std::chrono::milliseconds(0));
  const bool sent = SendAll(visitor.socket.get(), OfServer(server, worker), now);
  return sent ? WaitingRoom::Verdict::kAdmit : WaitingRoom::Verdict::kRefuse;
}

WaitingRoom::Judge ServerHandshake::JudgeOf(int server) const {
  return [handshake = *this, server](WaitingRoom::Visitor& visitor) {
    return handshake.Judge(visitor, server);
  };
}

std::uint32_t ServerHandshake::WorkerOf(const WaitingRoom::Visitor& admitted) {
  return Greeter::IndexOf(GreetingOf(admitted));
}

}  // namespace ringside

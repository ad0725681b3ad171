#include "ringside/paramserver/transports/handshake/server_handshake.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstring>
#include <span>

#include "ringside/common/core/errors.h"
#include "ringside/common/sockets/tcp_socket.h"
#include "ringside/paramserver/wire/wire.h"

namespace ringside {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::uint32_t kFramesMagic = 0x43545352;  // "RSTC"
constexpr std::uint32_t kGrpcMagic = 0x43475352;    // "RSGC"

/// A greeting as it lies on the wire.
struct RawGreeting {
  std::uint32_t magic;
  std::uint32_t protocol;
  std::uint32_t index;
  std::array<std::byte, kMacBytes> proof;
};
static_assert(sizeof(RawGreeting) == ServerHandshake::kBytes);

RawGreeting Parse(const ServerHandshake::Greeting& greeting) {
  return std::bit_cast<RawGreeting>(greeting);
}

}  // namespace

ServerHandshake::ServerHandshake(Protocol protocol, const std::string& token, int workers,
                                 int servers)
    : magic_(protocol == Protocol::kGrpc ? kGrpcMagic : kFramesMagic),
      workers_(workers),
      mac_(token, "parameter server", workers + servers) {}

ServerHandshake::Greeting ServerHandshake::OfWorker(int worker, int server) const {
  return Make(worker, worker, RankOfServer(server));
}

ServerHandshake::Greeting ServerHandshake::OfServer(int server, int worker) const {
  return Make(server, RankOfServer(server), worker);
}

ServerHandshake::Greeting ServerHandshake::Make(int index, int from, int to) const {
  return std::bit_cast<Greeting>(RawGreeting{.magic = magic_,
                                             .protocol = FrameHeader::kProtocol,
                                             .index = static_cast<std::uint32_t>(index),
                                             .proof = mac_.Make(from, to)});
}

std::string ServerHandshake::FlawOf(const Greeting& greeting, int from, int to) const {
  const RawGreeting raw = Parse(greeting);
  if (raw.magic != magic_) return "it does not speak this protocol";
  if (raw.protocol != FrameHeader::kProtocol) return "it speaks another version of the protocol";
  if (!mac_.Check(raw.proof, from, to)) return "it does not know the token of this job";
  return {};
}

void ServerHandshake::Join(int file, int worker, int server, const std::string& server_name,
                           const Deadline& deadline) const {
  Greeting theirs{};
  if (!SendAll(file, OfWorker(worker, server), deadline) || !ReceiveAll(file, theirs, deadline)) {
    throw CommError(server_name, "start",
                    deadline.expired()
                        ? "it did not answer the greeting in time"
                        : "it has closed the connection: wrong token, or it is stopping");
  }
  const std::string flaw = FlawOf(theirs, RankOfServer(server), worker);
  if (!flaw.empty()) throw CommError(server_name, "start", flaw);
}

int ServerHandshake::ReadWorker(int file, int server, const Deadline& deadline) const {
  Greeting theirs{};
  const auto refuse = [&](const std::string& reason) {
    throw CommError("the process at " + TcpPeerOf(file), "greeting", reason);
  };
  if (!ReceiveAll(file, theirs, deadline)) {
    refuse(deadline.expired() ? "it did not say in time who it is" : "it has left");
  }
  int worker = 0;
  const std::string flaw = FlawOfWorker(theirs, server, worker);
  if (!flaw.empty()) refuse(flaw);
  return worker;
}

// A stranger's number must not become a rank. No worker has the number of workers.
std::string ServerHandshake::FlawOfWorker(const Greeting& greeting, int server, int& worker) const {
  const std::uint32_t index = Parse(greeting).index;
  worker = static_cast<int>(std::min(index, static_cast<std::uint32_t>(workers_)));
  std::string flaw = FlawOf(greeting, worker, RankOfServer(server));
  if (flaw.empty() && worker == workers_) flaw = "there is no worker " + std::to_string(index);
  return flaw;
}

WaitingRoom::Verdict ServerHandshake::Judge(WaitingRoom::Visitor& visitor, int server) const {
  const WaitingRoom::Verdict heard = WaitingRoom::Hear(visitor, kBytes);
  if (heard != WaitingRoom::Verdict::kAdmit) return heard;
  Greeting theirs{};
  std::ranges::copy(visitor.heard, theirs.begin());
  int worker = 0;
  if (!FlawOfWorker(theirs, server, worker).empty()) return WaitingRoom::Verdict::kRefuse;
  // Nothing was sent before, so the kernel has room for the answer.
  const Deadline now = Deadline::After(std::chrono::milliseconds(0));
  const bool sent = SendAll(visitor.socket.get(), OfServer(server, worker), now);
  return sent ? WaitingRoom::Verdict::kAdmit : WaitingRoom::Verdict::kRefuse;
}

void ServerHandshake::Answer(int file, int server, int worker, const Deadline& deadline) const {
  if (SendAll(file, OfServer(server, worker), deadline)) return;
  throw CommError("worker " + std::to_string(worker), "greeting", "it has left");
}

}  // namespace ringside

#include "ringside/paramserver/transports/tcp/tcp_handshake.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>

#include "ringside/common/core/errors.h"
#include "ringside/common/sockets/tcp_socket.h"
#include "ringside/paramserver/wire/wire.h"

namespace ringside {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::uint32_t kMagic = 0x43545352;  // "RSTC"

/// A greeting as it lies on the wire.
struct RawGreeting {
  std::uint32_t magic;
  std::uint32_t protocol;
  std::uint32_t index;
  std::array<std::byte, kMacBytes> proof;
};
static_assert(sizeof(RawGreeting) == TcpHandshake::kBytes);

RawGreeting Parse(const TcpHandshake::Greeting& greeting) {
  return std::bit_cast<RawGreeting>(greeting);
}

}  // namespace

TcpHandshake::TcpHandshake(const std::string& token, int workers, int servers)
    : workers_(workers), mac_(token, "parameter server", workers + servers) {}

TcpHandshake::Greeting TcpHandshake::OfWorker(int worker, int server) const {
  return Make(worker, worker, RankOfServer(server));
}

TcpHandshake::Greeting TcpHandshake::OfServer(int server, int worker) const {
  return Make(server, RankOfServer(server), worker);
}

TcpHandshake::Greeting TcpHandshake::Make(int index, int from, int to) const {
  return std::bit_cast<Greeting>(RawGreeting{.magic = kMagic,
                                             .protocol = FrameHeader::kProtocol,
                                             .index = static_cast<std::uint32_t>(index),
                                             .proof = mac_.Make(from, to)});
}

std::string TcpHandshake::FlawOf(const Greeting& greeting, int from, int to) const {
  const RawGreeting raw = Parse(greeting);
  if (raw.magic != kMagic) return "it does not speak this protocol";
  if (raw.protocol != FrameHeader::kProtocol) return "it speaks another version of the protocol";
  if (!mac_.Check(raw.proof, from, to)) return "it does not know the token of this job";
  return {};
}

void TcpHandshake::Join(int file, int worker, int server, const std::string& server_name,
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

int TcpHandshake::ReadWorker(int file, int server, const Deadline& deadline) const {
  Greeting theirs{};
  const auto refuse = [&](const std::string& reason) {
    throw CommError("the process at " + TcpPeerOf(file), "greeting", reason);
  };
  if (!ReceiveAll(file, theirs, deadline)) {
    refuse(deadline.expired() ? "it did not say in time who it is" : "it has left");
  }
  const std::uint32_t index = Parse(theirs).index;
  // A stranger's number must not become a rank. No worker has the number of workers.
  const int worker = static_cast<int>(std::min(index, static_cast<std::uint32_t>(workers_)));
  const std::string flaw = FlawOf(theirs, worker, RankOfServer(server));
  if (!flaw.empty()) refuse(flaw);
  if (worker == workers_) refuse("there is no worker " + std::to_string(index));
  return worker;
}

void TcpHandshake::Answer(int file, int server, int worker, const Deadline& deadline) const {
  if (SendAll(file, OfServer(server, worker), deadline)) return;
  throw CommError("worker " + std::to_string(worker), "greeting", "it has left");
}

}  // namespace ringside

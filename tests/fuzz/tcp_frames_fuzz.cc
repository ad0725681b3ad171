// What a server reads from a connection of the tcp transport: the greeting, then frames. The other
// end has sent everything and closed its side, so the connection must end.
#include <sys/socket.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "ringside/common/base/deadline.h"
#include "ringside/common/base/file_descriptor.h"
#include "ringside/paramserver/transports/handshake/server_handshake.h"
#include "ringside/paramserver/transports/tcp/tcp_connection.h"
#include "ringside/paramserver/wire/plan_message.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/server_parts.h"

namespace ringside {
namespace {

/// It and its answers fit into the buffers of the sockets. So nobody has to read while it is
/// written, and the server does not wait until somebody reads answers.
constexpr std::size_t kMostBytes = std::size_t{16} << 10;
constexpr std::chrono::seconds kHang{30};

ServerHandshake HandshakeOf(const ServerParts& server) {
  return {ServerHandshake::Protocol::kFrames, server.context().comm.token, ServerParts::kWorkers,
          1};
}

std::string StartFrame() {
  const std::string plan = ToRequest(ServerParts::PlanOf(0)).SerializeAsString();
  return TextOf(EncodeHeader({.kind = FrameKind::kStart, .payload_bytes = plan.size()})) + plan;
}

std::string HeaderOf(std::uint64_t payload_bytes) {
  return TextOf(EncodeHeader({.payload_bytes = payload_bytes}));
}

std::string Repeat(std::uint8_t repeats) { return ServerParts::Frame({.repeats = repeats}, true); }

/// The connection begins with a greeting, unless the worker has shown who it is.
void Receive(ServerParts& server, const std::string& bytes, bool greeted) {
  std::array<int, 2> ends{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()) != 0) {
    throw std::runtime_error("no pair of sockets");
  }
  const FileDescriptor worker(ends[0]);
  WaitingRoom::Visitor visitor{.socket = FileDescriptor(ends[1])};
  if (!bytes.empty() && ::send(worker.get(), bytes.data(), bytes.size(), MSG_DONTWAIT) < 0) {
    throw std::runtime_error("the socket takes no bytes");
  }
  if (::shutdown(worker.get(), SHUT_WR) != 0) throw std::runtime_error("the socket does not close");
  const auto verdict =
      greeted ? WaitingRoom::Verdict::kAdmit : HandshakeOf(server).Judge(visitor, 0);
  if (verdict != WaitingRoom::Verdict::kAdmit) return;
  TcpShared shared{.context = server.context(), .table = server.table()};
  TcpConnection connection(std::move(visitor.socket),
                           greeted ? 0U : ServerHandshake::WorkerOf(visitor), shared);
  connection.AwaitEnd(Deadline::After(kHang));
  if (!connection.ended()) throw InternalError("the connection does not end");
}

}  // namespace

// Bit 0: worker 0 has shown who it is. Bit 1: the job has been started.
std::vector<std::string> FuzzSeeds() {
  const ServerParts server;
  const auto greeting = HandshakeOf(server).OfWorker(0, 0);
  const std::string load = ServerParts::Frame({.kind = FrameKind::kLoad}, true);
  const std::string push = ServerParts::Frame({}, true);
  const std::string pull = ServerParts::Frame({.kind = FrameKind::kPull}, false);
  const std::string state = ServerParts::Frame({.kind = FrameKind::kReadState, .part = 1}, false);
  const std::string retire = ServerParts::Frame({.kind = FrameKind::kRetire}, false);
  return {std::string(1, '\0') + TextOf(greeting) + pull,
          std::string(1, '\2') + TextOf(greeting) + pull,
          std::string(1, '\1') + StartFrame() + load + push,
          std::string(1, '\3') + push + push,
          std::string(1, '\3') + push + Repeat(2) + Repeat(1),
          std::string(1, '\3') + push.substr(0, FrameHeader::kBytes / 2),
          std::string(1, '\3') + HeaderOf(FrameHeader::kMaxPayload),
          std::string(1, '\3') + HeaderOf(~std::uint64_t{0}),
          std::string(1, '\3') + load + pull + state + retire + push};
}

}  // namespace ringside

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ringside;
  FuzzInput input(data, size);
  const std::uint8_t flags = input.Byte();
  ServerParts server;
  if ((flags & 2) != 0) server.Start();
  const std::string bytes = input.Rest();
  if (bytes.size() <= kMostBytes) Receive(server, bytes, (flags & 1) != 0);
  return 0;
}

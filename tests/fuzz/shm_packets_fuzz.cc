// Packets that a server behind shared memory receives: the greeting, requests with ranges of the
// worker's memory, and plans that lie there.
#include <sys/epoll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "ringside/common/base/deadline.h"
#include "ringside/common/base/file_descriptor.h"
#include "ringside/common/base/memory_region.h"
#include "ringside/paramserver/transports/shm/shm_connection.h"
#include "ringside/paramserver/transports/sockets/packet_socket.h"
#include "ringside/paramserver/wire/plan_message.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/quiet_protobuf.h"
#include "tests/fuzz/server_parts.h"

namespace ringside {
namespace {

constexpr std::size_t kSpaceBytes = 4096;
constexpr std::size_t kPlanAt = 2048;  // where a plan lies in the worker's memory
constexpr int kMostPackets = 16;
/// In an input it stands for the handle of the worker's memory, which differs in each process.
constexpr char kOwnHandle[] = "own";

/// What all inputs of a process share.
struct Host {
  std::string name = "ringside-fuzz-" + std::to_string(::getpid());
  PacketSocket listener = PacketSocket::Listen(name);
  FileDescriptor epoll{::epoll_create1(EPOLL_CLOEXEC)};
  MemoryRegion space = MemoryRegion::CreateShared("fuzz", kSpaceBytes);
};

Host& TheHost() {
  static Host host;
  return host;
}

/// Only the worker's own memory may be opened: no input shall open a file of this machine.
void Replace(SharedMemory& memory) {
  memory.set_handle(memory.handle() == kOwnHandle ? TheHost().space.handle()
                                                  : "nowhere/" + memory.handle());
}

std::string WithHandles(const std::string& packet) {
  ShmRequest request;
  if (!request.ParseFromString(packet)) return packet;
  if (request.has_hello() && request.hello().has_space()) {
    Replace(*request.mutable_hello()->mutable_space());
  }
  if (request.has_own()) Replace(*request.mutable_own());
  return request.SerializeAsString();
}

ShmRequest Hello() {
  ShmRequest request;
  request.mutable_hello()->set_protocol(FrameHeader::kProtocol);
  request.mutable_hello()->set_token("secret of the job");
  request.mutable_hello()->mutable_space()->set_handle(kOwnHandle);
  request.mutable_hello()->mutable_space()->set_bytes(kSpaceBytes);
  return request;
}

ShmRequest Request(FrameHeader header, std::uint64_t out_bytes, std::uint64_t in_bytes) {
  header.payload_bytes = out_bytes;
  ShmRequest request;
  request.set_frame(TextOf(EncodeHeader(header)));
  request.set_out_bytes(out_bytes);
  request.set_in_offset(ServerParts::kBytes);
  request.set_in_bytes(in_bytes);
  return request;
}

std::string Packet(const ShmRequest& request) { return Chunk(request.SerializeAsString()); }

}  // namespace

// Flags (1: the job has been started), the worker's memory from the place of the plan on (a chunk),
// then packets.
std::vector<std::string> FuzzSeeds() {
  constexpr std::uint64_t kBytes = ServerParts::kBytes;
  const std::string plan = ToRequest(ServerParts::PlanOf(0)).SerializeAsString();
  ShmRequest start = Request({.kind = FrameKind::kStart}, plan.size(), 0);
  start.set_out_offset(kPlanAt);
  ShmRequest own = Request({.kind = FrameKind::kReadState, .part = 1}, 0, kBytes);
  own.mutable_own()->set_handle(kOwnHandle);
  own.mutable_own()->set_bytes(kSpaceBytes);
  const std::string hello = Packet(Hello());
  const std::string load = Packet(Request({.kind = FrameKind::kLoad}, kBytes, 0));
  const std::string push = Packet(Request({}, kBytes, kBytes));
  const std::string pull = Packet(Request({.kind = FrameKind::kPull}, 0, kBytes));
  const std::string retire = Packet(Request({.kind = FrameKind::kRetire}, 0, 0));
  return {std::string(1, '\0') + Chunk(plan) + hello + Packet(start) + load + push + pull,
          std::string(1, '\1') + Chunk("") + hello + push + push,
          std::string(1, '\1') + Chunk("") + hello + pull + Packet(own) + retire,
          std::string(1, '\1') + Chunk("") + pull};
}

}  // namespace ringside

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ringside;
  SilenceProtobuf();
  Host& host = TheHost();
  FuzzInput input(data, size);
  ServerParts server;
  if (input.Byte() % 2 == 1) server.Start();
  std::fill_n(host.space.data(), kSpaceBytes, std::byte{0});
  const std::string in_memory = input.NextChunk().substr(0, kSpaceBytes - kPlanAt);
  std::ranges::transform(in_memory, host.space.data() + kPlanAt,
                         [](char c) { return static_cast<std::byte>(c); });

  ShmShared shared{
      .table = server.table(), .token = server.context().comm.token, .epoll = host.epoll.get()};
  const Deadline deadline = Deadline::After(std::chrono::seconds(10));
  const PacketSocket worker = PacketSocket::Connect(host.name, deadline);
  bool lacks_room = false;
  PacketSocket accepted = host.listener.Accept(lacks_room);
  if (!accepted.open()) throw std::runtime_error("the connection is not there");
  ShmConnection connection(1, std::move(accepted), shared);
  std::string answer;
  for (int packet = 0; packet < kMostPackets && !input.empty(); ++packet) {
    if (worker.TrySend(WithHandles(input.NextChunk())) != PacketSocket::Outcome::kDone) break;
    connection.Serve(EPOLLIN);
    while (worker.TryReceive(answer) == PacketSocket::Outcome::kDone) {
    }
  }
  connection.Close();
  return 0;
}

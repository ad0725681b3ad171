// A call is one packet to the server and one packet back. The first has the frame's header and the
// offsets of its floats. The second comes when the floats have been read and written in place.
// Packets are Protocol Buffers (parameter_server.proto); payloads are not.
#include "ringside/paramserver/transports/shm/shm_link.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "ringside/common/base/dilated_clock.h"
#include "ringside/paramserver/transports/sockets/packet_socket.h"
#include "ringside/paramserver/wire/plan_message.h"
#include "ringside/paramserver/wire/refusal_message.h"

namespace ringside {
namespace {

constexpr std::chrono::hours kForever{24};
constexpr std::uint32_t kMoreSlots = 16;  // added at a time, as `PayloadPool` does

std::span<const std::byte> Bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

class ShmLink : public ServerLink {
 public:
  ShmLink(int server, const ServerAddress& address, FlatSpace& space, const CommOptions& comm);
  ~ShmLink() override;

  const std::string& name() const override { return name_; }
  void Start(const PlanInfo& plan) override;
  void Call(const FrameHeader& header, const CallFloats& floats, CallObserver& observer) override;

 private:
  struct Pending {
    FrameHeader header;
    std::span<std::byte> in;
    CallObserver* observer = nullptr;  // null: Start waits for the end
    MemoryRegion own{};                // of spans outside the space: what goes out, then what comes
  };
  /// A slot for a call, used again and again.
  struct Slot {
    std::optional<Pending> call;
    std::uint32_t uses = 0;  // so that an id is never used twice
  };

  /// Where the bytes of a call begin in the space; empty: they are not in it.
  struct Offsets {
    std::optional<std::uint64_t> out;
    std::optional<std::uint64_t> in;
  };

  void SendCall(Pending call, std::span<const std::byte> out, const Offsets& offsets);
  Offsets OffsetsOf(const CallFloats& floats) const;
  void Place(std::span<const std::byte> out, const Offsets& offsets, Pending& call);
  std::uint64_t Add(Pending call);
  std::optional<Pending> Take(std::uint64_t id);
  void Read();
  void Finish(const ShmReply& reply);
  void Complete(Pending& call, const ShmReply& reply);
  void Fail(Pending& call, const CommError& error);
  void Started(std::optional<CommError> outcome);
  void Lost();

  const std::string name_;
  const std::chrono::milliseconds timeout_;
  const FlatSpace& space_;
  PacketSocket socket_;
  std::mutex send_mutex_;  // guards request_ and packet_
  ShmRequest request_;
  std::string packet_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Slot> slots_;                 // guarded by mutex_
  std::vector<std::uint32_t> free_slots_;   // guarded by mutex_
  bool lost_ = false;                       // guarded by mutex_: nothing is read any more
  bool started_ = false;                    // guarded by mutex_: Start has its outcome
  std::optional<CommError> start_failure_;  // guarded by mutex_
  std::jthread reader_;
};

ShmLink::ShmLink(int server, const ServerAddress& address, FlatSpace& space,
                 const CommOptions& comm)
    : name_("server " + std::to_string(server) + " " + address.DisplayText()),
      timeout_(comm.timeout),
      space_(space) {
  space.Share("ringside-worker");
  socket_ = PacketSocket::Connect(address.address, Deadline::After(comm.rendezvous_timeout()));
  ShmRequest hello;
  hello.mutable_hello()->set_protocol(FrameHeader::kProtocol);
  hello.mutable_hello()->set_token(comm.token);
  hello.mutable_hello()->mutable_space()->set_handle(space.shared_handle());
  hello.mutable_hello()->mutable_space()->set_bytes(space.memory().size());
  const Deadline deadline = Deadline::After(comm.timeout);
  if (!socket_.SameUser()) throw CommError(name_, "start", "another user's process answers");
  std::string packet;
  ShmReply reply;
  const bool answered =
      socket_.Send(hello.SerializeAsString(), deadline) == PacketSocket::Outcome::kDone &&
      socket_.Receive(packet, deadline) == PacketSocket::Outcome::kDone &&
      reply.ParseFromString(packet);
  if (!answered) throw CommError(name_, "start", "it did not take the connection");
  if (!reply.welcome()) throw CommError(name_, "start", reply.refusal().message());
  reader_ = std::jthread([this] { Read(); });
}

// The server reads to the end, drops waiting calls, and closes its side when it no longer reads or
// writes any memory of this worker.
ShmLink::~ShmLink() {
  socket_.FinishSending();
  {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, timeout_, [this] { return lost_; });
  }
  socket_.Shutdown();
}

void ShmLink::Start(const PlanInfo& plan) {
  const std::string message = ToRequest(plan).SerializeAsString();
  FrameHeader header;
  header.kind = FrameKind::kStart;
  header.payload_bytes = message.size();
  SendCall({.header = header, .in = {}}, Bytes(message), {.out = std::nullopt, .in = 0});
  std::unique_lock lock(mutex_);
  const bool done = changed_.wait_for(lock, timeout_ + DilatedClock::ToMachine(kAnswerGrace),
                                      [this] { return started_; });
  if (!done) throw CommError(name_, "start", "there was no answer in time");
  started_ = false;
  if (start_failure_) throw CommError(*start_failure_);
}

void ShmLink::Call(const FrameHeader& header, const CallFloats& floats, CallObserver& observer) {
  SendCall({.header = header, .in = std::as_writable_bytes(floats.in), .observer = &observer},
           std::as_bytes(floats.out), OffsetsOf(floats));
}

void ShmLink::SendCall(Pending call, std::span<const std::byte> out, const Offsets& offsets) {
  CallObserver* const observer = call.observer;
  const FrameHeader header = call.header;
  const auto frame = EncodeHeader(header);
  std::uint64_t id = 0;
  auto sent = PacketSocket::Outcome::kClosed;
  {
    const std::lock_guard lock(send_mutex_);
    request_.Clear();
    Place(out, offsets, call);
    request_.mutable_frame()->assign(reinterpret_cast<const char*>(frame.data()), frame.size());
    id = Add(std::move(call));
    request_.set_call(id);
    request_.SerializeToString(&packet_);
    sent = socket_.Send(packet_, Deadline::After(timeout_));
  }
  if (observer != nullptr) observer->Sent(out.size());
  if (sent == PacketSocket::Outcome::kDone) return;
  if (auto failed = Take(id)) {
    Fail(*failed, CommError(name_, Describe(header), "the connection is lost"));
  }
}

ShmLink::Offsets ShmLink::OffsetsOf(const CallFloats& floats) const {
  const auto offset_of = [&](bool empty, FlatVector vector) -> std::optional<std::uint64_t> {
    if (empty) return 0;
    if (vector == FlatVector::kNone) return std::nullopt;
    const std::size_t begin = vector == FlatVector::kParams ? 0 : space_.grads_offset_bytes();
    return begin + floats.offset * sizeof(float);
  };
  return {.out = offset_of(floats.out.empty(), floats.out_vector),
          .in = offset_of(floats.in.empty(), floats.in_vector)};
}

// Optimizer state and plans lie outside the space. They are few and are copied.
void ShmLink::Place(std::span<const std::byte> out, const Offsets& offsets, Pending& call) {
  request_.set_out_bytes(out.size());
  request_.set_in_bytes(call.in.size());
  if (offsets.out && offsets.in) {
    request_.set_out_offset(*offsets.out);
    request_.set_in_offset(*offsets.in);
    return;
  }
  call.own = MemoryRegion::CreateShared("ringside-call", std::max(out.size(), call.in.size()));
  std::ranges::copy(out, call.own.data());
  request_.mutable_own()->set_handle(call.own.handle());
  request_.mutable_own()->set_bytes(call.own.bytes());
}

// The low 32 bits of an id are the slot's index. The bits above count the uses of the slot.
std::uint64_t ShmLink::Add(Pending call) {
  const std::lock_guard lock(mutex_);
  if (free_slots_.empty()) {
    const auto used = static_cast<std::uint32_t>(slots_.size());
    slots_.resize(used + kMoreSlots);
    free_slots_.reserve(slots_.size());
    for (std::uint32_t slot = used; slot < slots_.size(); ++slot) free_slots_.push_back(slot);
  }
  const std::uint32_t index = free_slots_.back();
  free_slots_.pop_back();
  Slot& slot = slots_[index];
  slot.call = std::move(call);
  return std::uint64_t{++slot.uses} << 32 | index;
}

std::optional<ShmLink::Pending> ShmLink::Take(std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  const auto index = static_cast<std::uint32_t>(id);
  if (index >= slots_.size()) return std::nullopt;
  Slot& slot = slots_[index];
  if (!slot.call || slot.uses != id >> 32) return std::nullopt;
  free_slots_.push_back(index);
  return std::exchange(slot.call, std::nullopt);
}

void ShmLink::Read() {
  std::string packet;
  ShmReply reply;
  while (true) {
    const auto outcome = socket_.Receive(packet, Deadline::After(kForever));
    if (outcome == PacketSocket::Outcome::kLater) continue;
    if (outcome == PacketSocket::Outcome::kClosed || !reply.ParseFromString(packet)) break;
    Finish(reply);
  }
  socket_.Shutdown();
  Lost();
}

void ShmLink::Finish(const ShmReply& reply) {
  std::optional<Pending> call = Take(reply.call());
  if (!call) return;
  try {
    Complete(*call, reply);
  } catch (const CommError& error) {
    Fail(*call, error);
  }
}

void ShmLink::Complete(Pending& call, const ShmReply& reply) {
  if (reply.has_refusal()) {
    throw RefusedByServer(name_, Describe(call.header), FromMessage(reply.refusal()));
  }
  FrameHeader header;
  const FrameError error =
      DecodeHeader(Bytes(reply.frame()), FrameHeader::kBytes + call.in.size(), header);
  if (error != FrameError::kNone) {
    throw CommError(name_, Describe(call.header), FrameErrorText(error));
  }
  if (header.kind != call.header.kind || header.slice != call.header.slice) {
    throw CommError(name_, Describe(call.header), "the reply belongs to another request");
  }
  CopyCount moved;
  if (call.own.data() != nullptr && !call.in.empty()) {
    std::memcpy(call.in.data(), call.own.data(), call.in.size());
    moved.assigned = call.in.size();
  }
  if (call.observer != nullptr) return call.observer->Received(header, moved);
  Started(std::nullopt);
}

void ShmLink::Fail(Pending& call, const CommError& error) {
  if (call.observer != nullptr) return call.observer->Failed(error);
  Started(error);
}

void ShmLink::Started(std::optional<CommError> outcome) {
  const std::lock_guard lock(mutex_);
  started_ = true;
  start_failure_ = std::move(outcome);
  changed_.notify_all();
}

void ShmLink::Lost() {
  std::vector<Pending> calls;
  {
    const std::lock_guard lock(mutex_);
    for (std::uint32_t index = 0; index < slots_.size(); ++index) {
      std::optional<Pending> call = std::exchange(slots_[index].call, std::nullopt);
      if (!call) continue;
      calls.push_back(*std::move(call));
      free_slots_.push_back(index);
    }
  }
  for (Pending& call : calls) {
    Fail(call, CommError(name_, Describe(call.header), "the connection is lost"));
  }
  const std::lock_guard lock(mutex_);
  lost_ = true;
  changed_.notify_all();
}

}  // namespace

std::unique_ptr<ServerLink> ConnectShm(int server, const ServerAddress& address, const LinkSetup&,
                                       FlatSpace& space, const CommOptions& comm) {
  return std::make_unique<ShmLink>(server, address, space, comm);
}

}  // namespace ringside

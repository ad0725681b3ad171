// A call: one packet to the server with the frame's header and the places of its floats, one packet
// back when the floats have been read and written there. Packets are Protocol Buffers
// (parameter_server.proto); payloads never are.
#include "paramserver/shm_link.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "paramserver/packet_socket.h"
#include "paramserver/plan_message.h"

namespace ringside {
namespace {

constexpr std::chrono::hours kForever{24};

std::span<const std::byte> Bytes(const std::string& text) { return std::as_bytes(std::span(text)); }

}  // namespace

class ShmLink::Impl {
 public:
  Impl(int server, const ServerAddress& address, FlatSpace& space, const CommOptions& comm);
  ~Impl();

  const std::string& name() const { return name_; }
  void Start(const PlanInfo& plan);
  void Call(const FrameHeader& header, std::span<const std::byte> out, std::span<std::byte> in,
            CallObserver* observer);

 private:
  struct Pending {
    FrameHeader header;
    std::span<std::byte> in;
    CallObserver* observer = nullptr;  // null: Start waits for `started_`
    MemoryRegion own{};                // of spans outside the space: what goes out, then what comes
  };

  std::optional<std::uint64_t> OffsetInSpace(std::span<const std::byte> bytes) const;
  void Place(std::span<const std::byte> out, Pending& call, ShmRequest& request) const;
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
  const std::span<std::byte> space_;
  PacketSocket socket_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::uint64_t, Pending> calls_;           // guarded by mutex_
  std::uint64_t next_call_ = 0;                      // guarded by mutex_
  bool lost_ = false;                                // guarded by mutex_: nothing is read any more
  std::optional<std::optional<CommError>> started_;  // guarded by mutex_: outcome of Start
  std::jthread reader_;
};

ShmLink::Impl::Impl(int server, const ServerAddress& address, FlatSpace& space,
                    const CommOptions& comm)
    : name_("server " + std::to_string(server) + " " + address.Place()),
      timeout_(comm.timeout),
      space_(space.memory()) {
  space.Share("ringside-worker");
  socket_ = PacketSocket::Connect(address.address, Deadline::After(comm.rendezvous_timeout()));
  ShmRequest hello;
  hello.mutable_hello()->set_protocol(FrameHeader::kProtocol);
  hello.mutable_hello()->set_token(comm.token);
  hello.mutable_hello()->mutable_space()->set_handle(space.shared_handle());
  hello.mutable_hello()->mutable_space()->set_bytes(space_.size());
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

// The server reads to the end, forgets what waits, and closes its side once nothing of this worker
// is being read or written.
ShmLink::Impl::~Impl() {
  socket_.FinishSending();
  {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, timeout_, [this] { return lost_; });
  }
  socket_.Shutdown();
}

void ShmLink::Impl::Start(const PlanInfo& plan) {
  const std::string message = ToRequest(plan).SerializeAsString();
  FrameHeader header;
  header.kind = FrameKind::kStart;
  header.payload_bytes = message.size();
  Call(header, Bytes(message), {}, nullptr);
  std::unique_lock lock(mutex_);
  const bool done =
      changed_.wait_for(lock, timeout_ + kAnswerGrace, [this] { return started_.has_value(); });
  if (!done) throw CommError(name_, "start", "there was no answer in time");
  const std::optional<CommError> error = *std::exchange(started_, std::nullopt);
  if (error) throw CommError(*error);
}

void ShmLink::Impl::Call(const FrameHeader& header, std::span<const std::byte> out,
                         std::span<std::byte> in, CallObserver* observer) {
  ShmRequest request;
  Pending call{.header = header, .in = in, .observer = observer};
  Place(out, call, request);
  const auto frame = EncodeHeader(header);
  request.set_frame(frame.data(), frame.size());
  const std::uint64_t id = Add(std::move(call));
  request.set_call(id);
  const auto sent = socket_.Send(request.SerializeAsString(), Deadline::After(timeout_));
  if (observer != nullptr) observer->Sent(out.size());
  if (sent == PacketSocket::Outcome::kDone) return;
  if (auto failed = Take(id)) {
    Fail(*failed, CommError(name_, Describe(header), "the connection is lost"));
  }
}

std::optional<std::uint64_t> ShmLink::Impl::OffsetInSpace(std::span<const std::byte> bytes) const {
  if (bytes.empty()) return 0;
  const std::byte* const end = space_.data() + space_.size();
  if (bytes.data() < space_.data() || bytes.data() + bytes.size() > end) return std::nullopt;
  return static_cast<std::uint64_t>(bytes.data() - space_.data());
}

// Optimizer state and plans lie elsewhere: they are few, and go by way of a copy.
void ShmLink::Impl::Place(std::span<const std::byte> out, Pending& call,
                          ShmRequest& request) const {
  const auto out_offset = OffsetInSpace(out), in_offset = OffsetInSpace(call.in);
  request.set_out_bytes(out.size());
  request.set_in_bytes(call.in.size());
  if (out_offset && in_offset) {
    request.set_out_offset(*out_offset);
    request.set_in_offset(*in_offset);
    return;
  }
  call.own = MemoryRegion::CreateShared("ringside-call", std::max(out.size(), call.in.size()));
  std::ranges::copy(out, call.own.data());
  request.mutable_own()->set_handle(call.own.handle());
  request.mutable_own()->set_bytes(call.own.bytes());
}

std::uint64_t ShmLink::Impl::Add(Pending call) {
  const std::lock_guard lock(mutex_);
  const std::uint64_t id = next_call_++;
  calls_.emplace(id, std::move(call));
  return id;
}

std::optional<ShmLink::Impl::Pending> ShmLink::Impl::Take(std::uint64_t id) {
  const std::lock_guard lock(mutex_);
  auto found = calls_.extract(id);
  if (found.empty()) return std::nullopt;
  return std::move(found.mapped());
}

void ShmLink::Impl::Read() {
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

void ShmLink::Impl::Finish(const ShmReply& reply) {
  std::optional<Pending> call = Take(reply.call());
  if (!call) return;
  try {
    Complete(*call, reply);
  } catch (const CommError& error) {
    Fail(*call, error);
  }
}

void ShmLink::Impl::Complete(Pending& call, const ShmReply& reply) {
  if (reply.has_refusal()) {
    throw RefusedByServer(name_, Describe(call.header), reply.refusal().culprit(),
                          reply.refusal().message());
  }
  FrameHeader header;
  const FrameError error =
      DecodeHeader(Bytes(reply.frame()), FrameHeader::kBytes + call.in.size(), header);
  if (error != FrameError::kNone) {
    throw CommError(name_, Describe(call.header), FrameErrorText(error));
  }
  if (header.kind != call.header.kind || header.bucket != call.header.bucket) {
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

void ShmLink::Impl::Fail(Pending& call, const CommError& error) {
  if (call.observer != nullptr) return call.observer->Failed(error);
  Started(error);
}

void ShmLink::Impl::Started(std::optional<CommError> outcome) {
  const std::lock_guard lock(mutex_);
  started_.emplace(std::move(outcome));
  changed_.notify_all();
}

void ShmLink::Impl::Lost() {
  std::map<std::uint64_t, Pending> calls;
  {
    const std::lock_guard lock(mutex_);
    calls.swap(calls_);
  }
  for (auto& [id, call] : calls) {
    Fail(call, CommError(name_, Describe(call.header), "the connection is lost"));
  }
  const std::lock_guard lock(mutex_);
  lost_ = true;
  changed_.notify_all();
}

ShmLink::ShmLink(int server, const ServerAddress& address, FlatSpace& space,
                 const CommOptions& comm)
    : impl_(std::make_unique<Impl>(server, address, space, comm)) {}

ShmLink::~ShmLink() = default;

const std::string& ShmLink::name() const { return impl_->name(); }

void ShmLink::Start(const PlanInfo& plan) { impl_->Start(plan); }

void ShmLink::Call(const FrameHeader& header, std::span<const float> out, std::span<float> in,
                   CallObserver& observer) {
  impl_->Call(header, std::as_bytes(out), std::as_writable_bytes(in), &observer);
}

}  // namespace ringside

#include "paramserver/shm_connection.h"

#include <sys/epoll.h>

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>

#include "common/errors.h"
#include "paramserver/plan_message.h"
#include "paramserver/token.h"

namespace ringside {
namespace {

constexpr std::size_t kMaxMessage = 1024;       // of an error, so that it fits into a packet
constexpr std::chrono::seconds kHelloTime{10};  // that a worker may take to say who it is

/// Bytes that lie in memory which outlives it.
class BorrowedPayload : public Payload {
 public:
  explicit BorrowedPayload(std::span<const std::byte> bytes) : piece_(bytes) {}
  std::span<const Piece> pieces() const override { return {&piece_, 1}; }

 private:
  const Piece piece_;
};

std::span<std::byte> Slice(const MemoryRegion& region, std::uint64_t offset, std::uint64_t bytes) {
  if (bytes <= region.bytes() && offset <= region.bytes() - bytes) {
    return {region.data() + offset, static_cast<std::size_t>(bytes)};
  }
  throw RefusedError(RefusalCode::kOutOfRange, "a range outside the worker's memory");
}

void SetRefusal(const Refusal& refusal, ShmReply& reply) {
  reply.mutable_refusal()->set_message(refusal.message.substr(0, kMaxMessage));
  reply.mutable_refusal()->set_culprit(refusal.culprit.substr(0, kMaxMessage));
}

}  // namespace

/// A request that has not been answered. Whoever answers it deletes it.
class ShmConnection::Call : public PendingReply {
 public:
  Call(ShmConnection& connection, std::uint64_t id, const FrameHeader& header)
      : connection_(connection), id_(id), header_(header) {}

  void Send(Answer answer) override;
  void Refuse(const Refusal& refusal) override;
  void Serve(const ShmRequest& request);
  const FrameHeader& header() const { return header_; }

 private:
  void Locate(const ShmRequest& request);
  void ServeStart();
  void ServePush();

  ShmConnection& connection_;
  const std::uint64_t id_;
  const FrameHeader header_;
  MemoryRegion own_;  // of a call with memory of its own
  std::span<std::byte> out_, in_;
};

ShmConnection::ShmConnection(std::uint64_t id, PacketSocket socket, ShmShared& shared)
    : id_(id),
      hello_due_(Deadline::After(kHelloTime)),
      socket_(std::move(socket)),
      shared_(shared) {
  epoll_event event{.events = EPOLLIN, .data = {.u64 = id_}};
  epoll_ctl(shared_.epoll, EPOLL_CTL_ADD, socket_.file(), &event);
}

ShmConnection::~ShmConnection() = default;

bool ShmConnection::Enter() {
  const std::lock_guard lock(mutex_);
  if (closed_) return false;
  ++users_;
  return true;
}

void ShmConnection::Leave() {
  const std::lock_guard lock(mutex_);
  --users_;
  if (closed_) AbandonCalls();
}

void ShmConnection::Close() {
  const std::lock_guard lock(mutex_);
  if (!closed_) epoll_ctl(shared_.epoll, EPOLL_CTL_DEL, socket_.file(), nullptr);
  closed_ = true;
  AbandonCalls();
}

void ShmConnection::CloseIfSilent(Deadline::Clock::time_point now) {
  {
    const std::lock_guard lock(mutex_);
    if (greeted_ || closed_ || now < hello_due_.at()) return;
  }
  Close();
}

bool ShmConnection::forgettable() const {
  const std::lock_guard lock(mutex_);
  return closed_ && !greeted_ && users_ == 0 && calls_.empty();
}

// A call that does not wait with the table is being answered at this moment, or not yet pushed: the
// thread that does so comes here again.
void ShmConnection::AbandonCalls() {
  std::erase_if(calls_, [this](const auto& entry) {
    return shared_.table.Abandon(entry.first->header(), *entry.first);
  });
  if (users_ == 0 && calls_.empty()) socket_.Close();
}

void ShmConnection::Serve(std::uint32_t events) {
  if (!Enter()) return;
  if ((events & EPOLLOUT) != 0) Flush();
  if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) Receive();
  Leave();
}

void ShmConnection::Receive() {
  std::string packet;
  switch (socket_.TryReceive(packet)) {
    case PacketSocket::Outcome::kDone:
      return Take(packet);
    case PacketSocket::Outcome::kLater:
      return;
    case PacketSocket::Outcome::kClosed:
      return Close();
  }
}

void ShmConnection::Take(const std::string& packet) {
  ShmRequest request;
  if (!request.ParseFromString(packet) || request.has_hello() != First()) return Close();
  if (request.has_hello()) return Greet(request.hello());
  FrameHeader header;
  const FrameError flaw = DecodeHeader(std::as_bytes(std::span(request.frame())),
                                       FrameHeader::kBytes + request.out_bytes(), header);
  Call* call = Add(std::make_unique<Call>(*this, request.call(), header));
  if (call == nullptr) return;
  try {
    if (flaw != FrameError::kNone) {
      throw RefusedError(RefusalCode::kInvalid, FrameErrorText(flaw));
    }
    call->Serve(request);
  } catch (const RefusedError& error) {
    call->Refuse(error.refusal());
  } catch (const std::exception& error) {
    call->Refuse({RefusalCode::kAborted, error.what(), {}});
  }
}

bool ShmConnection::First() {
  const std::lock_guard lock(mutex_);
  return !std::exchange(met_, true);
}

/// Null when the worker has gone, or has not been let in.
ShmConnection::Call* ShmConnection::Add(std::unique_ptr<Call> call) {
  const std::lock_guard lock(mutex_);
  if (closed_ || !greeted_) return nullptr;
  Call* added = call.get();
  calls_.emplace(added, std::move(call));
  return added;
}

// Nothing of the worker's is touched before the token is right.
void ShmConnection::Greet(const ShmHello& hello) {
  ShmReply reply;
  bool welcome = false;
  if (!socket_.SameUser() || !SameToken(hello.token(), shared_.token)) {
    SetRefusal({RefusalCode::kInvalid, "wrong or missing token", {}}, reply);
  } else if (hello.protocol() != FrameHeader::kProtocol) {
    SetRefusal({RefusalCode::kInvalid, "another version of the protocol", {}}, reply);
  } else {
    try {
      space_ = MemoryRegion::AttachShared(hello.space().handle(), hello.space().bytes());
      welcome = true;
    } catch (const CommError& error) {
      SetRefusal({RefusalCode::kInvalid, error.what(), {}}, reply);
    }
  }
  {
    const std::lock_guard lock(mutex_);
    greeted_ = welcome;
  }
  reply.set_welcome(welcome);
  Send(reply);
  if (!welcome) Close();
}

void ShmConnection::Call::Serve(const ShmRequest& request) {
  Locate(request);
  ShardTable& table = connection_.shared_.table;
  switch (header_.kind) {
    case FrameKind::kStart:
      return ServeStart();
    case FrameKind::kPushPull:
      return ServePush();
    case FrameKind::kLoad:
      table.Load(header_, BorrowedPayload(out_));
      return Send({.parameters = ParameterRef(0)});
    case FrameKind::kPull:
      return Send(table.Pull(header_));
    case FrameKind::kReadState:
      return Send({.parameters = table.ReadState(header_)});
    case FrameKind::kRetire:
      table.Retire(header_);
      return Send({.parameters = ParameterRef(0)});
  }
}

void ShmConnection::Call::Locate(const ShmRequest& request) {
  if (request.has_own()) {
    own_ = MemoryRegion::AttachShared(request.own().handle(), request.own().bytes());
  }
  const MemoryRegion& region = request.has_own() ? own_ : connection_.space_;
  out_ = Slice(region, request.out_offset(), header_.payload_bytes);
  in_ = Slice(region, request.in_offset(), request.in_bytes());
}

void ShmConnection::Call::ServeStart() {
  StartRequest request;
  if (!request.ParseFromArray(out_.data(), static_cast<int>(out_.size()))) {
    throw RefusedError(RefusalCode::kInvalid, "not a StartRequest");
  }
  connection_.shared_.table.Start(ToPlanInfo(request));
  Send({.parameters = ParameterRef(0)});
}

// From the moment that the table has taken the call, any thread may answer it and thereby delete
// it: nothing of it may be touched after the call of Push.
void ShmConnection::Call::ServePush() {
  if (own_.data() != nullptr) {
    throw RefusedError(RefusalCode::kInvalid, "a gradient outside the worker's space");
  }
  connection_.shared_.table.Push(header_, std::make_unique<BorrowedPayload>(out_), *this);
}

void ShmConnection::Call::Send(Answer answer) {
  const std::span<const std::byte> values = std::as_bytes(answer.parameters.values());
  if (values.size() != in_.size()) {
    return Refuse({RefusalCode::kInvalid,
                   "room for " + std::to_string(in_.size()) + " bytes where " +
                       std::to_string(values.size()) + " are to be answered",
                   {}});
  }
  std::ranges::copy(values, in_.begin());
  connection_.shared_.moved += values.size();
  FrameHeader header = header_;
  header.version = answer.version;
  header.staleness = answer.staleness;
  header.dropped = answer.dropped;
  header.payload_bytes = values.size();
  const auto frame = EncodeHeader(header);
  ShmReply reply;
  reply.set_call(id_);
  reply.set_frame(frame.data(), frame.size());
  connection_.Finish(*this, reply);
}

void ShmConnection::Call::Refuse(const Refusal& refusal) {
  ShmReply reply;
  reply.set_call(id_);
  SetRefusal(refusal, reply);
  connection_.Finish(*this, reply);
}

void ShmConnection::Finish(Call& call, const ShmReply& reply) {
  Send(reply);
  const std::lock_guard lock(mutex_);
  calls_.erase(&call);
  if (closed_) AbandonCalls();
}

// Never waits: what the worker is slow to take is kept, at most one packet a call.
void ShmConnection::Send(const ShmReply& reply) {
  const std::string packet = reply.SerializeAsString();
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  if (unsent_.empty() && socket_.TrySend(packet) != PacketSocket::Outcome::kLater) return;
  unsent_.push_back(packet);
  Watch(EPOLLIN | EPOLLOUT);
}

void ShmConnection::Flush() {
  const std::lock_guard lock(mutex_);
  while (!unsent_.empty()) {
    if (socket_.TrySend(unsent_.front()) == PacketSocket::Outcome::kLater) return;
    unsent_.pop_front();
  }
  if (!closed_) Watch(EPOLLIN);
}

void ShmConnection::Watch(std::uint32_t events) {
  epoll_event event{.events = events, .data = {.u64 = id_}};
  epoll_ctl(shared_.epoll, EPOLL_CTL_MOD, socket_.file(), &event);
}

}  // namespace ringside

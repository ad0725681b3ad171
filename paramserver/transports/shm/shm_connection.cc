#include "ringside/paramserver/transports/shm/shm_connection.h"

#include <sys/epoll.h>

#include <algorithm>
#include <chrono>
#include <span>
#include <thread>
#include <utility>

#include "ringside/common/base/errors.h"
#include "ringside/common/security/secrets.h"
#include "ringside/paramserver/wire/plan_message.h"
#include "ringside/paramserver/wire/refusal_message.h"

namespace ringside {
namespace {

constexpr std::size_t kMoreCalls = 16;
constexpr std::size_t kMaxMessage = 1024;       // of an error, so that it fits into a packet
constexpr std::size_t kMaxStart = 64UL << 20U;  // bytes of a plan
constexpr std::chrono::seconds kHelloTime{10};  // within which a worker must identify itself

std::span<std::byte> Slice(const MemoryRegion& region, std::uint64_t offset, std::uint64_t bytes) {
  if (bytes <= region.bytes() && offset <= region.bytes() - bytes) {
    return {region.data() + offset, static_cast<std::size_t>(bytes)};
  }
  throw RefusedError(RefusalCode::kOutOfRange, "a range outside the worker's memory");
}

void SetRefusal(const Refusal& refusal, ShmReply& reply) {
  *reply.mutable_refusal() = ToMessage(refusal, kMaxMessage);
}

}  // namespace

/// A request, from its packet until its answer. After the answer it is used again for another
/// request.
class ShmConnection::Call : public PendingReply {
 public:
  /// Reserves the memory that a push needs.
  explicit Call(ShmConnection& connection) : connection_(connection) {
    packet.reserve(PacketSocket::kMaxBytes);
    request.mutable_frame()->reserve(FrameHeader::kBytes);
    reply.mutable_frame()->reserve(FrameHeader::kBytes);
  }

  void Send(ParameterReply answer) override;
  void Refuse(const Refusal& refusal) override;
  /// Reads the header out of `request`.
  void ReadHeader();
  /// Serves `request`. Throws `RefusedError`.
  void Serve();
  void LetMemoryGo() { own_ = {}; }

  std::string packet;  // received, then sent
  ShmRequest request;
  ShmReply reply;
  FrameHeader header;
  bool under_way = false;  // guarded by the connection's mutex

 private:
  void Locate();
  void ServeStart();
  void ServePush();

  ShmConnection& connection_;
  FrameError flaw_ = FrameError::kNone;
  MemoryRegion own_;  // of a call with memory of its own
  std::span<std::byte> out_, in_;
};

ShmConnection::ShmConnection(std::uint64_t id, PacketSocket socket, ShmShared& shared)
    : id_(id),
      hello_due_(Deadline::After(kHelloTime)),
      socket_(std::move(socket)),
      shared_(shared) {
  epoll_event event{.events = EPOLLIN, .data = {.u64 = id_}};
  // If it fails, nothing is ever read here, and `CloseIfSilent` closes the connection.
  static_cast<void>(epoll_ctl(shared_.epoll, EPOLL_CTL_ADD, socket_.file(), &event));
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
  return closed_ && !greeted_ && users_ == 0 && under_way_ == 0;
}

// A call that does not wait in the table is being answered now, or is not yet pushed. The thread
// that does so calls this function again.
void ShmConnection::AbandonCalls() {
  for (const std::unique_ptr<Call>& call : calls_) {
    if (call->under_way && shared_.table.OnCallCancelled(call->header, *call)) GiveBack(*call);
  }
  if (users_ == 0 && under_way_ == 0) socket_.Close();
}

void ShmConnection::Serve(std::uint32_t events) {
  if (!Enter()) return;
  if ((events & EPOLLOUT) != 0) Flush();
  if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) Receive();
  Leave();
}

void ShmConnection::Receive() {
  Call& call = TakeFree();
  const PacketSocket::Outcome outcome = socket_.TryReceive(call.packet);
  if (outcome == PacketSocket::Outcome::kDone) return Handle(call);
  {
    const std::lock_guard lock(mutex_);
    GiveBack(call);
  }
  if (outcome == PacketSocket::Outcome::kClosed) Close();
}

// Until the call is admitted only this thread uses it. Then other threads read its header.
void ShmConnection::Handle(Call& call) {
  const bool readable =
      call.request.ParseFromString(call.packet) && call.request.has_hello() == First();
  call.ReadHeader();
  if (!readable || call.request.has_hello() || !Admit(call)) {
    if (!readable) Close();
    if (readable && call.request.has_hello()) Greet(call.request.hello());
    const std::lock_guard lock(mutex_);
    return GiveBack(call);
  }
  try {
    call.Serve();
  } catch (const RefusedError& error) {
    call.Refuse(error.refusal());
  } catch (const std::exception& error) {
    call.Refuse({RefusalCode::kAborted, error.what(), {}});
  }
}

bool ShmConnection::First() {
  const std::lock_guard lock(mutex_);
  return !std::exchange(met_, true);
}

ShmConnection::Call& ShmConnection::TakeFree() {
  const std::lock_guard lock(mutex_);
  if (free_calls_.empty()) {
    // Adds several at a time, as `PayloadPool` does.
    const std::size_t more = kMoreCalls + std::thread::hardware_concurrency();
    free_calls_.reserve(calls_.size() + more);
    for (std::size_t i = 0; i < more; ++i) {
      free_calls_.push_back(calls_.emplace_back(std::make_unique<Call>(*this)).get());
    }
  }
  Call* call = free_calls_.back();
  free_calls_.pop_back();
  return *call;
}

// Called with `mutex_` held.
void ShmConnection::GiveBack(Call& call) {
  if (std::exchange(call.under_way, false)) --under_way_;
  call.LetMemoryGo();
  free_calls_.push_back(&call);  // there is room for all
}

/// Returns false when the worker has gone, or is not admitted.
bool ShmConnection::Admit(Call& call) {
  const std::lock_guard lock(mutex_);
  if (closed_ || !greeted_) return false;
  call.under_way = true;
  ++under_way_;
  return true;
}

// Checks the token before it uses any memory of the worker.
void ShmConnection::Greet(const ShmHello& hello) {
  ShmReply reply;
  bool welcome = false;
  if (!SecretsEqual(hello.token(), shared_.token)) {
    SetRefusal({RefusalCode::kInvalid, "wrong or missing token", {}}, reply);
  } else if (hello.protocol() != FrameHeader::kProtocol) {
    SetRefusal({RefusalCode::kInvalid, "another version of the protocol", {}}, reply);
  } else {
    try {
      space_ = MemoryRegion::AttachShared(hello.space().handle(), hello.space().bytes());
      welcome = true;
    } catch (const Error& error) {  // a wrong region, or no room for it
      SetRefusal({RefusalCode::kInvalid, error.what(), {}}, reply);
    }
  }
  {
    const std::lock_guard lock(mutex_);
    greeted_ = welcome;
  }
  reply.set_welcome(welcome);
  std::string packet;
  Send(reply, packet);
  if (!welcome) Close();
}

void ShmConnection::Call::ReadHeader() {
  header = {};
  flaw_ = DecodeHeader(std::as_bytes(std::span(request.frame())),
                       FrameHeader::kBytes + request.out_bytes(), header);
}

void ShmConnection::Call::Serve() {
  if (flaw_ != FrameError::kNone) throw RefusedError(RefusalCode::kInvalid, FrameErrorText(flaw_));
  Locate();
  ShardTable& table = connection_.shared_.table;
  switch (header.kind) {
    case FrameKind::kStart:
      return ServeStart();
    case FrameKind::kPushPull:
      return ServePush();
    case FrameKind::kLoad: {
      BorrowedPayload values;
      values.Assign(out_);
      table.Load(header, values);
      return Send({.parameters = ParameterRef(0)});
    }
    case FrameKind::kPull:
      return Send(table.Pull(header));
    case FrameKind::kReadState:
      return Send({.parameters = table.ReadState(header)});
    case FrameKind::kRetire:
      table.Retire(header);
      return Send({.parameters = ParameterRef(0)});
  }
}

void ShmConnection::Call::Locate() {
  if (request.has_own()) {
    own_ = MemoryRegion::AttachShared(request.own().handle(), request.own().bytes());
  }
  const MemoryRegion& region = request.has_own() ? own_ : connection_.space_;
  out_ = Slice(region, request.out_offset(), header.payload_bytes);
  in_ = Slice(region, request.in_offset(), request.in_bytes());
}

void ShmConnection::Call::ServeStart() {
  if (out_.size() > kMaxStart) {
    throw RefusedError(RefusalCode::kInvalid,
                       "a StartRequest of " + std::to_string(out_.size()) + " bytes");
  }
  StartRequest start;
  if (!start.ParseFromArray(out_.data(), static_cast<int>(out_.size()))) {
    throw RefusedError(RefusalCode::kInvalid, "not a StartRequest");
  }
  connection_.shared_.table.Start(ToPlanInfo(start));
  Send({.parameters = ParameterRef(0)});
}

// When the table has taken the call, any thread may answer it and so end its use. So nothing here
// may use the call after Push.
void ShmConnection::Call::ServePush() {
  if (own_.data() != nullptr) {
    throw RefusedError(RefusalCode::kInvalid, "a gradient outside the worker's space");
  }
  auto gradient = connection_.shared_.payloads->Take();
  gradient->Assign(out_);
  connection_.shared_.table.Push(header, std::move(gradient), *this);
}

// Drops the reference to the parameters before it sends the packet. So when the worker pushes
// again, the buffer is free for the next update.
void ShmConnection::Call::Send(ParameterReply answer) {
  const std::span<const std::byte> values = std::as_bytes(answer.parameters.values());
  if (values.size() != in_.size()) {
    return Refuse({RefusalCode::kInvalid,
                   "room for " + std::to_string(in_.size()) + " bytes where " +
                       std::to_string(values.size()) + " are to be answered",
                   {}});
  }
  std::ranges::copy(values, in_.begin());
  connection_.shared_.moved += values.size();
  FrameHeader answered = AnswerTo(header);
  answered.version = answer.version;
  answered.staleness = answer.staleness;
  answered.dropped = answer.dropped;
  answered.payload_bytes = values.size();
  answer.parameters = ParameterRef();
  const auto frame = EncodeHeader(answered);
  reply.Clear();
  reply.set_call(request.call());
  reply.mutable_frame()->assign(reinterpret_cast<const char*>(frame.data()), frame.size());
  connection_.Finish(*this);
}

void ShmConnection::Call::Refuse(const Refusal& refusal) {
  reply.Clear();
  reply.set_call(request.call());
  SetRefusal(refusal, reply);
  connection_.Finish(*this);
}

void ShmConnection::Finish(Call& call) {
  Send(call.reply, call.packet);
  const std::lock_guard lock(mutex_);
  GiveBack(call);
  if (closed_) AbandonCalls();
}

// Never waits: packets that the worker has not yet read are kept.
void ShmConnection::Send(const ShmReply& reply, std::string& packet) {
  reply.SerializeToString(&packet);
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  if (unsent_.empty() && socket_.TrySend(packet) != PacketSocket::Outcome::kLater) return;
  unsent_.push_back(packet);
  // A worker that reads no answers gets no more of its requests served.
  const bool reads = unsent_.size() < shared_.table.most_calls_of_a_worker();
  Watch(reads ? EPOLLIN | EPOLLOUT : EPOLLOUT);
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

#include "paramserver/shm_listener.h"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <deque>
#include <list>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "common/errors.h"
#include "common/memory_region.h"
#include "paramserver/packet_socket.h"
#include "paramserver/plan_message.h"
#include "paramserver/token.h"

namespace ringside {
namespace {

constexpr std::size_t kMaxMessage = 1024;      // of an error, so that it fits into a packet
constexpr std::size_t kMaxConnections = 1024;  // over the life of a server

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

/// What all connections of a listener share.
struct Shared {
  ShardTable& table;
  const std::string& token;
  int epoll = -1;
  std::atomic<std::uint64_t> moved{0};  // payload bytes written into workers' memory
};

/// A worker's connection. It is kept until the listener goes, also when the worker has gone:
/// gradients that wait for their turn lie in the worker's space.
class Connection {
 public:
  Connection(PacketSocket socket, Shared& shared) : socket_(std::move(socket)), shared_(shared) {}

  int file() const { return socket_.file(); }
  /// The socket is ready for `events`. Any number of threads at once.
  void Serve(std::uint32_t events);
  /// Forgets what waits; the socket is closed when the last user of the worker's memory is done.
  void Close();

 private:
  /// A request that has not been answered. Whoever answers it deletes it.
  class Call : public PendingReply {
   public:
    Call(Connection& connection, std::uint64_t id, const FrameHeader& header)
        : connection_(connection), id_(id), header_(header) {}

    void Send(Answer answer) override;
    void Refuse(const Refusal& refusal) override;
    void Serve(const ShmRequest& request);
    const FrameHeader& header() const { return header_; }

   private:
    void Locate(const ShmRequest& request);
    void ServeStart();
    void ServePush();

    Connection& connection_;
    const std::uint64_t id_;
    const FrameHeader header_;
    MemoryRegion own_;  // of a call with memory of its own
    std::span<std::byte> out_, in_;
  };

  bool Enter();
  void Leave();
  void Receive();
  void Take(const std::string& packet);
  bool First();
  Call* Add(std::unique_ptr<Call> call);
  void Greet(const ShmHello& hello);
  void Finish(Call& call, const ShmReply& reply);
  void Send(const ShmReply& reply);
  void Flush();
  void Watch(std::uint32_t events);
  void AbandonCalls();

  PacketSocket socket_;
  Shared& shared_;
  MemoryRegion space_;
  std::mutex mutex_;      // guards what follows; never held while the table is asked, but by Close
  bool met_ = false;      // a packet has come
  bool greeted_ = false;  // the worker may call
  bool closed_ = false;
  int users_ = 0;
  std::map<Call*, std::unique_ptr<Call>> calls_;
  std::deque<std::string> unsent_;
};

bool Connection::Enter() {
  const std::lock_guard lock(mutex_);
  if (closed_) return false;
  ++users_;
  return true;
}

void Connection::Leave() {
  const std::lock_guard lock(mutex_);
  --users_;
  if (closed_) AbandonCalls();
}

void Connection::Close() {
  const std::lock_guard lock(mutex_);
  if (!closed_) epoll_ctl(shared_.epoll, EPOLL_CTL_DEL, socket_.file(), nullptr);
  closed_ = true;
  AbandonCalls();
}

// A call that does not wait with the table is being answered at this moment, or not yet pushed: the
// thread that does so comes here again.
void Connection::AbandonCalls() {
  std::erase_if(calls_, [this](const auto& entry) {
    return shared_.table.Abandon(entry.first->header(), *entry.first);
  });
  if (users_ == 0 && calls_.empty()) socket_.Close();
}

void Connection::Serve(std::uint32_t events) {
  if (!Enter()) return;
  if ((events & EPOLLOUT) != 0) Flush();
  if ((events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) Receive();
  Leave();
}

void Connection::Receive() {
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

void Connection::Take(const std::string& packet) {
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

bool Connection::First() {
  const std::lock_guard lock(mutex_);
  return !std::exchange(met_, true);
}

/// Null when the worker has gone, or has not been let in.
Connection::Call* Connection::Add(std::unique_ptr<Call> call) {
  const std::lock_guard lock(mutex_);
  if (closed_ || !greeted_) return nullptr;
  Call* added = call.get();
  calls_.emplace(added, std::move(call));
  return added;
}

// Nothing of the worker's is touched before the token is right.
void Connection::Greet(const ShmHello& hello) {
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

void Connection::Call::Serve(const ShmRequest& request) {
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
  }
}

void Connection::Call::Locate(const ShmRequest& request) {
  if (request.has_own()) {
    own_ = MemoryRegion::AttachShared(request.own().handle(), request.own().bytes());
  }
  const MemoryRegion& region = request.has_own() ? own_ : connection_.space_;
  out_ = Slice(region, request.out_offset(), header_.payload_bytes);
  in_ = Slice(region, request.in_offset(), request.in_bytes());
}

void Connection::Call::ServeStart() {
  StartRequest request;
  if (!request.ParseFromArray(out_.data(), static_cast<int>(out_.size()))) {
    throw RefusedError(RefusalCode::kInvalid, "not a StartRequest");
  }
  connection_.shared_.table.Start(ToPlanInfo(request));
  Send({.parameters = ParameterRef(0)});
}

// From the moment that the table has taken the call, any thread may answer it and thereby delete
// it: nothing of it may be touched after the call of Push.
void Connection::Call::ServePush() {
  if (own_.data() != nullptr) {
    throw RefusedError(RefusalCode::kInvalid, "a gradient outside the worker's space");
  }
  connection_.shared_.table.Push(header_, std::make_unique<BorrowedPayload>(out_), *this);
}

void Connection::Call::Send(Answer answer) {
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

void Connection::Call::Refuse(const Refusal& refusal) {
  ShmReply reply;
  reply.set_call(id_);
  SetRefusal(refusal, reply);
  connection_.Finish(*this, reply);
}

void Connection::Finish(Call& call, const ShmReply& reply) {
  Send(reply);
  const std::lock_guard lock(mutex_);
  calls_.erase(&call);
  if (closed_) AbandonCalls();
}

// Never waits: what the worker is slow to take is kept, at most one packet a call.
void Connection::Send(const ShmReply& reply) {
  const std::string packet = reply.SerializeAsString();
  const std::lock_guard lock(mutex_);
  if (closed_) return;
  if (unsent_.empty() && socket_.TrySend(packet) != PacketSocket::Outcome::kLater) return;
  unsent_.push_back(packet);
  Watch(EPOLLIN | EPOLLOUT);
}

void Connection::Flush() {
  const std::lock_guard lock(mutex_);
  while (!unsent_.empty()) {
    if (socket_.TrySend(unsent_.front()) == PacketSocket::Outcome::kLater) return;
    unsent_.pop_front();
  }
  if (!closed_) Watch(EPOLLIN);
}

void Connection::Watch(std::uint32_t events) {
  epoll_event event{.events = events, .data = {.ptr = this}};
  epoll_ctl(shared_.epoll, EPOLL_CTL_MOD, socket_.file(), &event);
}

}  // namespace

class ShmListener::Impl {
 public:
  Impl(const ServerContext& context, ShardTable& table);
  ~Impl();

  const ServerAddress& address() const { return address_; }
  void Stop();
  CopyCount copies() const { return {.assigned = shared_.moved.load(), .added = 0}; }

 private:
  void Watch(int file, void* what) const;
  void Run();
  void Accept();

  const ServerAddress address_ = LocalAddress(PsTransport::kShm);
  Shared shared_;
  PacketSocket socket_;
  int stopped_ = -1;  // an event: readable once Stop has been called
  std::mutex mutex_;  // guards connections_
  std::list<Connection> connections_;
  std::vector<std::jthread> threads_;
};

ShmListener::Impl::Impl(const ServerContext& context, ShardTable& table)
    : shared_{.table = table, .token = context.comm.token},
      socket_(PacketSocket::Listen(address_.address)) {
  shared_.epoll = epoll_create1(EPOLL_CLOEXEC);
  stopped_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (shared_.epoll < 0 || stopped_ < 0) {
    throw CommError("server " + std::to_string(context.index), "listening", std::strerror(errno));
  }
  Watch(socket_.file(), &socket_);
  Watch(stopped_, &stopped_);
  const unsigned threads = std::max(1U, std::thread::hardware_concurrency());
  for (unsigned i = 0; i < threads; ++i) threads_.emplace_back([this] { Run(); });
}

ShmListener::Impl::~Impl() {
  Stop();
  close(shared_.epoll);
  close(stopped_);
}

void ShmListener::Impl::Stop() {
  eventfd_write(stopped_, 1);
  threads_.clear();  // joins
  for (Connection& connection : connections_) connection.Close();
  socket_.Close();
}

void ShmListener::Impl::Watch(int file, void* what) const {
  epoll_event event{.events = EPOLLIN, .data = {.ptr = what}};
  epoll_ctl(shared_.epoll, EPOLL_CTL_ADD, file, &event);
}

// One packet at a time, of whichever worker: the threads share out the work by themselves.
void ShmListener::Impl::Run() {
  while (true) {
    epoll_event event{};
    if (epoll_wait(shared_.epoll, &event, 1, -1) != 1) continue;
    if (event.data.ptr == &stopped_) return;
    if (event.data.ptr == &socket_) {
      Accept();
    } else {
      static_cast<Connection*>(event.data.ptr)->Serve(event.events);
    }
  }
}

void ShmListener::Impl::Accept() {
  PacketSocket accepted = socket_.Accept();
  const std::lock_guard lock(mutex_);
  if (!accepted.open() || connections_.size() >= kMaxConnections) return;
  Connection& connection = connections_.emplace_back(std::move(accepted), shared_);
  Watch(connection.file(), &connection);
}

ShmListener::ShmListener(const ServerContext& context, ShardTable& table)
    : impl_(std::make_unique<Impl>(context, table)) {}

ShmListener::~ShmListener() = default;

ServerAddress ShmListener::address() const { return impl_->address(); }

void ShmListener::Stop() { impl_->Stop(); }

CopyCount ShmListener::copies() const { return impl_->copies(); }

}  // namespace ringside

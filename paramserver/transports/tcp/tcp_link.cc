// A call is one frame to the server and one frame back. Each slice has its connection. The
// server answers the calls of a connection in any order. A reply repeats what its request says of
// itself, so it is found among the open calls of its connection.
#include "ringside/paramserver/transports/tcp/tcp_link.h"

#include <algorithm>
#include <deque>
#include <future>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "ringside/common/sockets/tcp_socket.h"
#include "ringside/paramserver/transports/core/object_pool.h"
#include "ringside/paramserver/transports/handshake/server_handshake.h"
#include "ringside/paramserver/transports/tcp/frame_stream.h"
#include "ringside/paramserver/wire/plan_message.h"
#include "ringside/paramserver/wire/refusal_message.h"

namespace ringside {
namespace {

constexpr std::size_t kCalls = 64;                  // open before more room is allocated
constexpr std::uint64_t kMaxRefusal = 64UL << 10U;  // bytes

bool SameCall(const FrameHeader& one, const FrameHeader& other) {
  return one.kind == other.kind && one.slice == other.slice && one.part == other.part &&
         one.step == other.step;
}

class TcpLink : public ServerLink {
 public:
  TcpLink(int server, const ServerAddress& address, const LinkSetup& setup,
          const CommOptions& comm);

  const std::string& name() const override { return name_; }
  void Start(const PlanInfo& plan) override;
  void Call(const FrameHeader& header, const CallFloats& floats, CallObserver& observer) override;

 private:
  /// A call, until its frame is released and its outcome is known. Then the observer is told the
  /// outcome, and the call ends.
  struct OpenCall : OutgoingFrame {
    OpenCall(TcpLink& owner, CallObserver& told) : link(owner), observer(told) {}
    void Released() override;

    TcpLink& link;
    CallObserver& observer;
    FrameHeader header;  // of the request
    std::span<const std::byte> out;
    std::span<std::byte> in;
    FrameHeader reply;
    std::optional<CommError> failure;  // absent: `reply` is the outcome
    int holds = 2;                     // of the frame and of the reply; guarded by the link's mutex
  };
  /// Ends its connection first, then waits for its thread.
  struct Connection {
    explicit Connection(FileDescriptor socket) : stream(std::move(socket)) { open.reserve(kCalls); }
    ~Connection() { stream.End(); }

    FrameStream stream;
    std::vector<OpenCall*> open;  // no reply has come; guarded by the link's mutex
    bool lost = false;            // guarded by the link's mutex
    std::jthread reader{};
  };
  struct StartObserver : CallObserver {
    void Sent(std::size_t) override {}
    void Received(const FrameHeader&, const CopyCount&) override { outcome.set_value(); }
    void Failed(const CommError& error) override {
      outcome.set_exception(std::make_exception_ptr(error));
    }
    std::promise<void> outcome;
  };

  void Begin(const FrameHeader& header, std::span<const std::byte> out, std::span<std::byte> in,
             CallObserver& observer);
  /// Registers the call with its connection. Null: the connection is lost.
  Connection* Add(OpenCall& call);
  void Read(Connection& connection);
  bool Serve(Connection& connection, const FrameHeader& reply);
  OpenCall* Take(Connection& connection, const FrameHeader& reply);
  bool ReceiveOutcome(FrameStream& stream, OpenCall& call) const;
  CommError Refusal(const std::string& text, const OpenCall& call) const;
  CommError Error(const OpenCall& call, const std::string& reason) const;
  void Lose(Connection& connection);
  void Drop(OpenCall& call);

  const std::string name_;
  const std::chrono::milliseconds timeout_;
  const std::size_t servers_;
  std::mutex mutex_;
  ObjectPool<OpenCall> calls_;
  std::deque<Connection> connections_;  // last: their threads use everything above
};

TcpLink::TcpLink(int server, const ServerAddress& address, const LinkSetup& setup,
                 const CommOptions& comm)
    : name_("server " + std::to_string(server) + " " + address.DisplayText()),
      timeout_(comm.timeout),
      servers_(static_cast<std::size_t>(setup.servers)) {
  const Deadline deadline = Deadline::After(comm.rendezvous_timeout());
  const ServerHandshake handshake(ServerHandshake::Protocol::kFrames, comm.token, setup.workers,
                                  setup.servers);
  for (std::size_t i = 0; i < setup.connections; ++i) {
    FileDescriptor socket = handshake.Call(address.address, setup.worker, server, name_, deadline);
    SetBlocking(socket.get());
    if (setup.kernel_unsent > 0 && !IsWithinHost(socket.get())) {
      LimitUnsent(socket.get(), setup.kernel_unsent);
    }
    connections_.emplace_back(std::move(socket));
  }
  for (Connection& connection : connections_) {
    connection.reader = std::jthread([this, &connection] { Read(connection); });
  }
}

// The memory of the call must live until its outcome is known. When the connections end, that is
// at once.
void TcpLink::Start(const PlanInfo& plan) {
  const std::string message = ToRequest(plan).SerializeAsString();
  FrameHeader header;
  header.kind = FrameKind::kStart;
  header.worker = plan.worker;
  StartObserver observer;
  std::future<void> outcome = observer.outcome.get_future();
  Begin(header, std::as_bytes(std::span(message)), {}, observer);
  if (outcome.wait_for(timeout_ + kAnswerGrace) != std::future_status::ready) {
    for (Connection& connection : connections_) connection.stream.End();
    outcome.wait();
    throw CommError(name_, Describe(header), "there was no answer in time");
  }
  outcome.get();
}

void TcpLink::Call(const FrameHeader& header, const CallFloats& floats, CallObserver& observer) {
  Begin(header, std::as_bytes(floats.out), std::as_writable_bytes(floats.in), observer);
}

void TcpLink::Begin(const FrameHeader& header, std::span<const std::byte> out,
                    std::span<std::byte> in, CallObserver& observer) {
  OpenCall& call = calls_.Make(*this, observer);
  call.header = header;
  call.header.payload_bytes = out.size();
  call.out = out;
  call.in = in;
  if (Connection* connection = Add(call)) {
    return connection->stream.Send(call, call.header, out, 0);
  }
  call.failure = Error(call, "the connection is lost");
  call.Released();
  Drop(call);
}

TcpLink::Connection* TcpLink::Add(OpenCall& call) {
  const std::lock_guard lock(mutex_);
  // Slices are dealt to servers in turn, so those of one server use its connections in turn.
  Connection& connection = connections_[call.header.slice / servers_ % connections_.size()];
  if (connection.lost) return nullptr;
  connection.open.push_back(&call);
  return &connection;
}

void TcpLink::OpenCall::Released() {
  observer.Sent(out.size());
  link.Drop(*this);
}

// The observer is told without the mutex, because it has one of its own.
void TcpLink::Drop(OpenCall& call) {
  {
    const std::lock_guard lock(mutex_);
    if (--call.holds > 0) return;
  }
  if (call.failure) {
    call.observer.Failed(*call.failure);
  } else {
    call.observer.Received(call.reply, {});  // the kernel has written the floats
  }
  calls_.Destroy(call);
}

void TcpLink::Read(Connection& connection) {
  FrameHeader reply;
  while (connection.stream.ReceiveHeader(reply) == FrameStream::Header::kDone) {
    if (!Serve(connection, reply)) break;
  }
  connection.stream.End();
  Lose(connection);
}

/// Returns false when the connection cannot be used any more.
bool TcpLink::Serve(Connection& connection, const FrameHeader& reply) {
  OpenCall* call = Take(connection, reply);
  if (call == nullptr) return false;
  call->reply = reply;
  const bool goes_on = ReceiveOutcome(connection.stream, *call);
  Drop(*call);
  return goes_on;
}

TcpLink::OpenCall* TcpLink::Take(Connection& connection, const FrameHeader& reply) {
  const std::lock_guard lock(mutex_);
  std::vector<OpenCall*>& open = connection.open;
  const auto found = std::ranges::find_if(
      open, [&](const OpenCall* call) { return SameCall(call->header, reply); });
  if (found == open.end()) return nullptr;
  OpenCall* const call = *found;
  open.erase(found);
  return call;
}

bool TcpLink::ReceiveOutcome(FrameStream& stream, OpenCall& call) const {
  const std::uint64_t bytes = call.reply.payload_bytes;
  if (call.reply.refused) {
    std::string text(std::min(bytes, kMaxRefusal), '\0');
    const bool received =
        bytes <= kMaxRefusal && stream.Receive(std::as_writable_bytes(std::span(text)));
    call.failure = received ? Refusal(text, call) : Error(call, "the connection is lost");
    return received;
  }
  if (bytes != call.in.size()) {
    call.failure = Error(call, "the reply belongs to another request");
    return stream.Skip(bytes);
  }
  if (stream.Receive(call.in)) return true;
  call.failure = Error(call, "the connection is lost");
  return false;
}

CommError TcpLink::Refusal(const std::string& text, const OpenCall& call) const {
  Refused refused;
  if (!refused.ParseFromString(text)) return Error(call, "it refuses for a reason that is damaged");
  return RefusedByServer(name_, Describe(call.header), FromMessage(refused));
}

CommError TcpLink::Error(const OpenCall& call, const std::string& reason) const {
  return {name_, Describe(call.header), reason};
}

void TcpLink::Lose(Connection& connection) {
  std::vector<OpenCall*> calls;
  {
    const std::lock_guard lock(mutex_);
    connection.lost = true;
    calls.swap(connection.open);
  }
  for (OpenCall* call : calls) {
    call->failure = Error(*call, "the connection is lost");
    Drop(*call);
  }
}

}  // namespace

std::unique_ptr<ServerLink> ConnectTcpLink(int server, const ServerAddress& address,
                                           const LinkSetup& setup, FlatSpace&,
                                           const CommOptions& comm) {
  try {
    return std::make_unique<TcpLink>(server, address, setup, comm);
  } catch (const std::system_error& error) {  // no thread
    throw CommError("server " + std::to_string(server), "start", error.what());
  }
}

}  // namespace ringside

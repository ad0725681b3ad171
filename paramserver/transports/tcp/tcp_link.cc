// A call is one frame to the server and one frame back. Each slice has its connection. The
// server answers the calls of a connection in any order. A reply repeats what its request says of
// itself, so it is found among the open calls of its connection.
//
// A connection that is lost is made again. What has no reply is then sent again. A push says how
// often it was sent before: the server may have it already, and uses it once
// (paramserver/wire/README.md).
#include "ringside/paramserver/transports/tcp/tcp_link.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "ringside/common/base/dilated_clock.h"
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
  ~TcpLink() override { Close(); }

  const std::string& name() const override { return name_; }
  void Start(const PlanInfo& plan) override;
  void Call(const FrameHeader& header, const CallFloats& floats, CallObserver& observer) override;
  int reconnects() const override { return reconnects_; }

 private:
  /// A call, until no stream has its frame and its outcome is known. Then the observer is told the
  /// outcome, and the call ends. The link's mutex guards what changes.
  struct OpenCall : OutgoingFrame {
    OpenCall(TcpLink& owner, CallObserver& told) : link(owner), observer(told) {}
    void Released() override { link.OnReleased(*this); }

    TcpLink& link;
    CallObserver& observer;
    FrameHeader header;  // of the request
    std::span<const std::byte> out;
    std::span<std::byte> in;
    FrameHeader reply;
    std::optional<CommError> failure;  // absent: `reply` is the outcome
    bool in_stream = false;            // a stream has its frame
    bool told_sent = false;            // a stream has had its frame
    bool ended = false;                // its outcome is known
  };
  /// The link's mutex guards everything but the thread.
  struct Connection {
    std::shared_ptr<FrameStream> stream;  // null: lost, or being made again
    std::vector<OpenCall*> open;          // no reply has come
    bool lost = false;
    std::string why_lost = "the connection is lost";
    int in_vain = 0;  // how often it was made again since the last reply
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
  /// How reading a reply has ended.
  enum class Reading {
    kDone,
    kLost,    ///< The connection.
    kBroken,  ///< The other side does not keep to the protocol.
  };

  void Close();
  FileDescriptor Connect(const Deadline& deadline, IfRefused if_refused) const;
  void Begin(const FrameHeader& header, std::span<const std::byte> out, std::span<std::byte> in,
             CallObserver& observer);
  void Send(OpenCall& call, FrameStream& stream) const;
  void OnReleased(OpenCall& call);

  void Read(Connection& connection);
  Reading ReadAll(Connection& connection, FrameStream& stream);
  Reading Serve(Connection& connection, FrameStream& stream, const FrameHeader& reply);
  Reading ReceiveOutcome(FrameStream& stream, OpenCall& call, const FrameHeader& reply) const;
  OpenCall* Find(const Connection& connection, const FrameHeader& reply);
  CommError Refusal(const std::string& text, const OpenCall& call) const;
  CommError Error(const OpenCall& call, const std::string& reason) const;

  /// Takes the stream away, and waits until it has no frame of an open call. False: the connection
  /// is not to be made again.
  bool TakeBack(Connection& connection);
  std::shared_ptr<FrameStream> MakeAgain(Connection& connection);
  bool SendAgain(Connection& connection, const std::shared_ptr<FrameStream>& stream);
  void Lose(Connection& connection);
  void End(OpenCall& call);
  void Tell(OpenCall& call);

  const int server_;
  const int worker_;
  const std::string address_;
  const std::string name_;
  const std::chrono::milliseconds timeout_;
  const std::size_t servers_;
  const std::size_t kernel_unsent_;
  const ServerHandshake handshake_;
  std::mutex mutex_;
  std::condition_variable released_;  // by a stream: the frame of an open call
  bool closing_ = false;              // guarded by the mutex
  std::atomic<int> reconnects_{0};
  ObjectPool<OpenCall> calls_;
  std::deque<Connection> connections_;  // last: their threads use everything above
};

TcpLink::TcpLink(int server, const ServerAddress& address, const LinkSetup& setup,
                 const CommOptions& comm)
    : server_(server),
      worker_(setup.worker),
      address_(address.address),
      name_("server " + std::to_string(server) + " " + address.DisplayText()),
      timeout_(comm.timeout),
      servers_(static_cast<std::size_t>(setup.servers)),
      kernel_unsent_(setup.kernel_unsent),
      handshake_(ServerHandshake::Protocol::kFrames, comm.token, setup.workers, setup.servers) {
  const Deadline deadline = Deadline::After(comm.rendezvous_timeout());
  for (std::size_t i = 0; i < setup.connections; ++i) {
    Connection& connection = connections_.emplace_back();
    connection.stream = std::make_shared<FrameStream>(Connect(deadline, IfRefused::kTryAgain));
    connection.open.reserve(kCalls);
  }
  try {
    for (Connection& connection : connections_) {
      connection.reader = std::jthread([this, &connection] { Read(connection); });
    }
  } catch (...) {
    Close();  // a reader that has begun ends
    throw;
  }
}

FileDescriptor TcpLink::Connect(const Deadline& deadline, IfRefused if_refused) const {
  FileDescriptor socket = handshake_.Call(address_, worker_, server_, name_, deadline, if_refused);
  SetBlocking(socket.get());
  if (kernel_unsent_ > 0 && !IsWithinHost(socket.get())) {
    LimitUnsent(socket.get(), kernel_unsent_);
  }
  return socket;
}

// The streams end outside the mutex, because they release frames.
void TcpLink::Close() {
  std::vector<std::shared_ptr<FrameStream>> streams;
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    for (const Connection& connection : connections_) {
      if (connection.stream != nullptr) streams.push_back(connection.stream);
    }
  }
  for (const std::shared_ptr<FrameStream>& stream : streams) stream->End();
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
  if (outcome.wait_for(timeout_ + DilatedClock::ToMachine(kAnswerGrace)) !=
      std::future_status::ready) {
    Close();
    outcome.wait();
    throw CommError(name_, Describe(header), "there was no answer in time");
  }
  outcome.get();
}

void TcpLink::Call(const FrameHeader& header, const CallFloats& floats, CallObserver& observer) {
  Begin(header, std::as_bytes(floats.out), std::as_writable_bytes(floats.in), observer);
}

// A call on a connection that is being made again is sent by the thread that does that.
void TcpLink::Begin(const FrameHeader& header, std::span<const std::byte> out,
                    std::span<std::byte> in, CallObserver& observer) {
  OpenCall& call = calls_.Make(*this, observer);
  call.header = header;
  call.header.payload_bytes = out.size();
  call.out = out;
  call.in = in;
  std::shared_ptr<FrameStream> stream;
  {
    const std::lock_guard lock(mutex_);
    // Slices are dealt to servers in turn, so those of one server use its connections in turn.
    Connection& connection = connections_[header.slice / servers_ % connections_.size()];
    if (!connection.lost) {
      connection.open.push_back(&call);
      stream = connection.stream;
      call.in_stream = stream != nullptr;
      if (stream == nullptr) return;
    } else {
      call.failure = Error(call, connection.why_lost);
    }
  }
  if (stream != nullptr) return Send(call, *stream);
  Tell(call);
}

void TcpLink::Send(OpenCall& call, FrameStream& stream) const {
  stream.Send(call, call.header, call.out, 0);
}

void TcpLink::OnReleased(OpenCall& call) {
  bool first = false;
  {
    const std::lock_guard lock(mutex_);
    first = !std::exchange(call.told_sent, true);
  }
  if (first) call.observer.Sent(call.out.size());
  {
    const std::lock_guard lock(mutex_);
    call.in_stream = false;
    if (!call.ended) return released_.notify_all();
  }
  Tell(call);
}

void TcpLink::End(OpenCall& call) {
  {
    const std::lock_guard lock(mutex_);
    call.ended = true;
    if (call.in_stream) return;
  }
  Tell(call);
}

// The observer is told without the mutex, because it has one of its own.
void TcpLink::Tell(OpenCall& call) {
  if (!call.told_sent) call.observer.Sent(call.out.size());  // no stream has had its frame
  if (call.failure) {
    call.observer.Failed(*call.failure);
  } else {
    call.observer.Received(call.reply, {});  // the kernel has written the floats
  }
  calls_.Destroy(call);
}

void TcpLink::Read(Connection& connection) {
  std::shared_ptr<FrameStream> stream;
  {
    const std::lock_guard lock(mutex_);
    stream = connection.stream;
  }
  while (true) {
    const Reading ended = ReadAll(connection, *stream);
    stream->End();
    if (!TakeBack(connection) || ended == Reading::kBroken) break;
    stream = MakeAgain(connection);
    if (stream == nullptr) break;
    ++reconnects_;
    if (!SendAgain(connection, stream)) break;
  }
  Lose(connection);
}

TcpLink::Reading TcpLink::ReadAll(Connection& connection, FrameStream& stream) {
  FrameHeader reply;
  Reading reading = Reading::kDone;
  while (reading == Reading::kDone) {
    switch (stream.ReceiveHeader(reply)) {
      case FrameStream::Header::kDone:
        reading = Serve(connection, stream, reply);
        break;
      case FrameStream::Header::kDamaged:
        return Reading::kBroken;
      case FrameStream::Header::kClosed:
        return Reading::kLost;
    }
  }
  return reading;
}

TcpLink::Reading TcpLink::Serve(Connection& connection, FrameStream& stream,
                                const FrameHeader& reply) {
  OpenCall* call = Find(connection, reply);
  if (call == nullptr) return Reading::kBroken;
  const Reading reading = ReceiveOutcome(stream, *call, reply);
  if (reading == Reading::kLost) return reading;
  {
    const std::lock_guard lock(mutex_);
    std::erase(connection.open, call);
    connection.in_vain = 0;
  }
  End(*call);
  return reading;
}

TcpLink::OpenCall* TcpLink::Find(const Connection& connection, const FrameHeader& reply) {
  const std::lock_guard lock(mutex_);
  const auto found = std::ranges::find_if(
      connection.open, [&](const OpenCall* call) { return SameCall(call->header, reply); });
  return found == connection.open.end() ? nullptr : *found;
}

TcpLink::Reading TcpLink::ReceiveOutcome(FrameStream& stream, OpenCall& call,
                                         const FrameHeader& reply) const {
  const std::uint64_t bytes = reply.payload_bytes;
  call.reply = reply;
  if (reply.refused) {
    if (bytes > kMaxRefusal) {
      call.failure = Error(call, "the connection is lost");
      return Reading::kBroken;
    }
    std::string text(bytes, '\0');
    if (!stream.Receive(std::as_writable_bytes(std::span(text)))) return Reading::kLost;
    call.failure = Refusal(text, call);
    return Reading::kDone;
  }
  if (bytes != call.in.size()) {
    call.failure = Error(call, "the reply belongs to another request");
    return stream.Skip(bytes) ? Reading::kDone : Reading::kBroken;
  }
  return stream.Receive(call.in) ? Reading::kDone : Reading::kLost;
}

CommError TcpLink::Refusal(const std::string& text, const OpenCall& call) const {
  Refused refused;
  if (!refused.ParseFromString(text)) return Error(call, "it refuses for a reason that is damaged");
  return RefusedByServer(name_, Describe(call.header), FromMessage(refused));
}

CommError TcpLink::Error(const OpenCall& call, const std::string& reason) const {
  return {name_, Describe(call.header), reason};
}

// The start is not made again: worker 0 may have made the shards, and a second start is refused.
bool TcpLink::TakeBack(Connection& connection) {
  std::unique_lock lock(mutex_);
  connection.stream = nullptr;
  released_.wait(lock, [&] {
    return std::ranges::none_of(connection.open,
                                [](const OpenCall* call) { return call->in_stream; });
  });
  const bool starts = std::ranges::any_of(
      connection.open, [](const OpenCall* call) { return call->header.kind == FrameKind::kStart; });
  if (closing_ || starts) return false;
  if (connection.in_vain++ < kReconnectsInVain) return true;
  connection.why_lost += ", " + LostInVain();
  return false;
}

/// Null: the server cannot be reached any more. A new connection may be lost before it can be used,
/// so there are several attempts. A server that has ended refuses all of them at once.
std::shared_ptr<FrameStream> TcpLink::MakeAgain(Connection& connection) {
  const Deadline deadline = Deadline::After(DilatedClock::ToMachine(kReconnectTime));
  std::string reason;
  for (int attempt = 0; attempt < kReconnectsInVain; ++attempt) {
    if (attempt > 0 && deadline.expired()) break;
    try {
      return std::make_shared<FrameStream>(Connect(deadline, IfRefused::kThrow));
    } catch (const CommError& error) {
      reason = error.what();
    } catch (const std::system_error& error) {  // no thread
      reason = error.what();
    }
  }
  const std::lock_guard lock(mutex_);
  connection.why_lost += ", and no new one could be made: " + reason;
  return nullptr;
}

// Calls that begin in the meantime come after those that are open. When all are sent, the stream
// becomes that of the connection. Returns false when the link closes.
bool TcpLink::SendAgain(Connection& connection, const std::shared_ptr<FrameStream>& stream) {
  for (std::size_t next = 0;; ++next) {
    OpenCall* call = nullptr;
    {
      const std::lock_guard lock(mutex_);
      if (closing_) return false;
      if (next == connection.open.size()) {
        connection.stream = stream;
        return true;
      }
      call = connection.open[next];
      call->in_stream = true;
    }
    if (call->told_sent) CountRepeat(call->header);
    Send(*call, *stream);
  }
}

void TcpLink::Lose(Connection& connection) {
  std::vector<OpenCall*> calls;
  {
    const std::lock_guard lock(mutex_);
    connection.lost = true;
    calls.swap(connection.open);
  }
  // From here on nobody changes the reason.
  for (OpenCall* call : calls) {
    call->failure = Error(*call, connection.why_lost);
    End(*call);
  }
}

}  // namespace

std::unique_ptr<ServerLink> ConnectTcpLink(int server, const ServerAddress& address,
                                           const LinkSetup& setup, FlatSpace&,
                                           const CommOptions& comm) {
  try {
    return std::make_unique<TcpLink>(server, address, setup, comm);
  } catch (const std::system_error& error) {  // no thread
    throw ResourceError("the threads of a connection to server " + std::to_string(server),
                        error.code().value());
  }
}

}  // namespace ringside

#include "ringside/paramserver/transports/grpc/grpc_link.h"

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/create_channel_posix.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/impl/codegen/proto_utils.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "ringside/common/core/file_descriptor.h"
#include "ringside/common/core/tsan_handoff.h"
#include "ringside/common/security/tls_files.h"
#include "ringside/common/sockets/tcp_socket.h"
#include "ringside/paramserver/transports/core/object_pool.h"
#include "ringside/paramserver/transports/grpc/grpc_payload.h"
#include "ringside/paramserver/transports/handshake/server_handshake.h"
#include "ringside/paramserver/transports/sockets/packet_socket.h"
#include "ringside/paramserver/transports/tls/tls_credentials.h"
#include "ringside/paramserver/transports/tls/tls_probe.h"
#include "ringside/paramserver/wire/plan_message.h"

namespace ringside {
namespace {

/// The number of open calls before more room is allocated.
constexpr std::size_t kCalls = 64;

grpc::ChannelArguments Arguments(int largest_message_bytes) {
  grpc::ChannelArguments arguments;
  for (const TransportArgument& argument : TransportArguments()) {
    arguments.SetInt(argument.name, argument.value);
  }
  arguments.SetMaxReceiveMessageSize(largest_message_bytes);
  // Each link has its own connections. There is no proxy inside a job, and no push is repeated.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetCompressionAlgorithm(GRPC_COMPRESS_NONE);
  return arguments;
}

/// Under TLS gRPC opens the sockets, so this side cannot cut them. Instead gRPC gives a connection
/// up whose peer answers nothing or takes no bytes, before an operation takes too long.
grpc::ChannelArguments TlsArguments(const CommOptions& comm) {
  constexpr std::chrono::milliseconds kShortest{1'000};
  const auto part = static_cast<int>(std::max(comm.timeout / 3, kShortest).count());
  grpc::ChannelArguments arguments = Arguments(comm.largest_message_bytes);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, part);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, part);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 500);
  return arguments;
}

/// One connection to a server.
class Connection {
 public:
  /// Takes over the descriptor of a connected socket.
  Connection(int file, const std::string& target, const CommOptions& comm) : file_(dup(file)) {
    KeepGrpcRunning();
    stub_ = std::make_unique<grpc::GenericStub>(grpc::CreateCustomInsecureChannelFromFd(
        target, file, Arguments(comm.largest_message_bytes)));
  }
  /// Connects under TLS. Throws `CommError`.
  Connection(const TlsFiles& files, const std::string& target, const CommOptions& comm,
             const Deadline& deadline)
      : file_(-1) {
    KeepGrpcRunning();
    const auto channel =
        grpc::CreateCustomChannel(target, MakeTlsChannelCredentials(files), TlsArguments(comm));
    if (!channel->WaitForConnected(GrpcDeadline(deadline.remaining()))) {
      throw CommError(target, "connecting", "no connection under TLS came about in time");
    }
    stub_ = std::make_unique<grpc::GenericStub>(channel);
  }
  ~Connection() {
    if (file_ >= 0) close(file_);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  grpc::GenericStub& stub() { return *stub_; }
  /// Shuts the socket down. A cancelled call ends only when its write ends, and a server that is
  /// frozen with full buffers would delay that without limit.
  void Cut() const {
    if (file_ >= 0) shutdown(file_, SHUT_RDWR);
  }

 private:
  const int file_;  // our own descriptor of gRPC's socket; -1 under TLS
  std::unique_ptr<grpc::GenericStub> stub_;
};

/// Adds one more connection, at most until the deadline.
using AddConnection =
    std::function<void(std::deque<Connection>& connections, const Deadline& deadline)>;

class GrpcLink : public ServerLink {
 public:
  GrpcLink(const std::string& name, const AddConnection& add, const LinkSetup& setup,
           const CommOptions& comm)
      : name_(name), comm_(comm), servers_(static_cast<std::size_t>(setup.servers)) {
    calls_.reserve(kCalls);
    const Deadline deadline = Deadline::After(comm.rendezvous_timeout());
    for (std::size_t i = 0; i < setup.connections; ++i) {
      add(connections_, deadline);
    }
  }

  ~GrpcLink() override;

  const std::string& name() const override { return name_; }
  void Start(const PlanInfo& plan) override;
  void Call(const FrameHeader& header, const CallFloats& floats, CallObserver& observer) override;

 private:
  /// Lives until gRPC has finished the call. One message goes out and one comes back. It is a
  /// stream and not a unary call, because a unary call would keep the payload until the answer,
  /// which may wait for data from other workers.
  struct CallState : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
    explicit CallState(GrpcLink& owner) : link(owner) {}

    void Begin(grpc::GenericStub& stub);
    void OnWriteDone(bool) override;
    void OnDone(const grpc::Status& status) override;

    GrpcLink& link;
    CallObserver* observer = nullptr;
    FrameHeader header;
    std::span<float> in;
    grpc::ClientContext context;
    grpc::ByteBuffer request, reply;
    TsanHandoff handoff;
    int holds = 1;       // guarded by the link's mutex_
    std::size_t at = 0;  // its place in the link's calls_; guarded by the mutex
  };
  /// Lives until gRPC releases the payload, which may be before or after the end of the call.
  struct Lease {
    Lease(GrpcLink* owner, CallObserver* told, std::size_t size)
        : link(owner), observer(told), bytes(size) {}

    GrpcLink* link;
    CallObserver* observer;
    std::size_t bytes;
    TsanHandoff handoff;
  };

  void Prepare(grpc::ClientContext& context) const;
  CommError ErrorOf(const std::string& operation, const grpc::Status& status) const;
  CallState& AddCall();
  Connection& ConnectionOf(std::size_t slice);
  void Finished(CallState& call, const grpc::Status& status);
  void Deliver(CallState& call) const;
  void Drop(CallState& call);
  void CancelAll();
  static void EndLease(void* lease);

  const std::string name_;
  const CommOptions& comm_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<CallState*> calls_;  // guarded by mutex_
  int open_calls_ = 0;             // in calls_ or being destroyed; guarded by mutex_
  int leases_ = 0;                 // guarded by mutex_
  std::deque<Connection> connections_;
  const std::size_t servers_;
  ObjectPool<CallState> call_pool_;
  ObjectPool<Lease> lease_pool_;
  const std::shared_ptr<PayloadPool<GrpcPayload>> payloads_ = PayloadPool<GrpcPayload>::Make();
};

// gRPC may run callbacks inside any call into it, and they lock the mutex. So it is not locked here
// while gRPC is called. Closing the connection releases payloads that the kernel has not yet taken,
// so it comes first.
GrpcLink::~GrpcLink() {
  CancelAll();
  for (const Connection& connection : connections_) connection.Cut();
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, comm_.timeout, [this] { return open_calls_ == 0; });
  lock.unlock();
  connections_.clear();
  lock.lock();
  changed_.wait_for(lock, comm_.timeout, [this] { return leases_ == 0; });
}

void GrpcLink::CancelAll() {
  std::vector<CallState*> held;
  {
    const std::lock_guard lock(mutex_);
    for (CallState* call : calls_) ++call->holds;
    held = calls_;
  }
  for (CallState* call : held) {
    call->context.TryCancel();
    Drop(*call);
  }
}

void GrpcLink::Prepare(grpc::ClientContext& context) const {
  context.set_deadline(GrpcDeadline(comm_.timeout + kAnswerGrace));
  context.AddMetadata(kTokenKey, comm_.token);
}

CommError GrpcLink::ErrorOf(const std::string& operation, const grpc::Status& status) const {
  RefusalCode code = RefusalCode::kAborted;
  if (status.error_code() == kDroppedStatus) code = RefusalCode::kDropped;
  if (status.error_code() == kDivergedStatus) code = RefusalCode::kDiverged;
  return RefusedByServer(name_, operation, {code, status.error_message(), status.error_details()});
}

void GrpcLink::Start(const PlanInfo& plan) {
  grpc::ByteBuffer request, reply;
  bool owned = false;
  grpc::GenericSerialize<grpc::ProtoBufferWriter, StartRequest>(ToRequest(plan), &request, &owned);
  grpc::ClientContext context;
  // The server listened before it published its address. So a connection that fails is tried again.
  context.set_wait_for_ready(true);
  Prepare(context);
  grpc::Status outcome;
  bool ended = false;  // guarded by mutex_, as the outcome is
  TsanHandoff handoff;
  handoff.Pass();
  connections_.front().stub().UnaryCall(&context, kStartMethod, {}, &request, &reply,
                                        [&](grpc::Status status) {
                                          handoff.Take();
                                          const std::lock_guard lock(mutex_);
                                          outcome = std::move(status);
                                          ended = true;
                                          changed_.notify_all();
                                        });
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return ended; });  // the call has a deadline
  if (!outcome.ok()) throw ErrorOf("start", outcome);
}

void GrpcLink::Call(const FrameHeader& header, const CallFloats& floats, CallObserver& observer) {
  CallState& call = AddCall();
  call.observer = &observer;
  call.header = header;
  call.in = floats.in;
  Prepare(call.context);
  Lease& lease = lease_pool_.Make(this, &observer, floats.out.size_bytes());
  lease.handoff.Pass();
  call.request = MakeFrame(header, floats.out, EndLease, &lease);
  call.Begin(ConnectionOf(header.slice).stub());
}

// gRPC may end the call before StartCall returns, which destroys this object.
void GrpcLink::CallState::Begin(grpc::GenericStub& stub) {
  context.set_initial_metadata_corked(true);  // metadata and message in one write
  stub.PrepareBidiStreamingCall(&context, MethodOf(header.kind), {}, this);
  StartWriteLast(&request, {});
  StartRead(&reply);
  handoff.Pass();
  StartCall();
}

void GrpcLink::CallState::OnWriteDone(bool) {
  handoff.Take();
  request.Clear();
  handoff.Pass();
}

void GrpcLink::CallState::OnDone(const grpc::Status& status) {
  handoff.Take();
  link.Finished(*this, status);
}

GrpcLink::CallState& GrpcLink::AddCall() {
  CallState& call = call_pool_.Make(*this);
  const std::lock_guard lock(mutex_);
  call.at = calls_.size();
  calls_.push_back(&call);
  ++open_calls_;
  ++leases_;
  return call;
}

// Slices are dealt to servers in turn. So the slices of one server use its connections in turn,
// too.
Connection& GrpcLink::ConnectionOf(std::size_t slice) {
  return connections_[slice / servers_ % connections_.size()];
}

void GrpcLink::EndLease(void* lease) {
  Lease& ended = *static_cast<Lease*>(lease);
  ended.handoff.Take();
  ended.observer->Sent(ended.bytes);
  GrpcLink& link = *ended.link;
  link.lease_pool_.Destroy(ended);
  const std::lock_guard lock(link.mutex_);
  if (--link.leases_ == 0) link.changed_.notify_all();
}

void GrpcLink::Finished(CallState& call, const grpc::Status& status) {
  try {
    if (!status.ok()) throw ErrorOf(Describe(call.header), status);
    Deliver(call);
  } catch (const CommError& error) {
    call.observer->Failed(error);
  }
  Drop(call);
}

void GrpcLink::Deliver(CallState& call) const {
  FrameHeader header;
  const auto payload = payloads_->Take();
  const FrameError error = payload->Assign(call.reply, header);
  call.reply.Clear();
  if (error != FrameError::kNone) {
    throw CommError(name_, Describe(call.header), FrameErrorText(error));
  }
  if (header.kind != call.header.kind || header.slice != call.header.slice ||
      header.payload_bytes != call.in.size_bytes()) {
    throw CommError(name_, Describe(call.header), "the reply belongs to another request");
  }
  FloatReader reader(payload->pieces());
  reader.Assign(call.in);
  call.observer->Received(header, reader.count());
}

// A call is destroyed without the mutex, and counts as open until then. Its context holds the
// channel. The link itself must hold the last reference to the channel: a channel that is destroyed
// on a thread of gRPC would wait for that thread.
void GrpcLink::Drop(CallState& call) {
  {
    const std::lock_guard lock(mutex_);
    if (--call.holds > 0) return;
    calls_.back()->at = call.at;
    calls_[call.at] = calls_.back();
    calls_.pop_back();
  }
  call_pool_.Destroy(call);
  const std::lock_guard lock(mutex_);
  if (--open_calls_ == 0) changed_.notify_all();
}

std::string NameOf(int server, const ServerAddress& address) {
  return "server " + std::to_string(server) + " " + address.DisplayText();
}

std::unique_ptr<ServerLink> ConnectUnderTls(const std::string& name, const std::string& target,
                                            const LinkSetup& setup, const CommOptions& comm) {
  const TlsFiles files(comm.tls);
  CheckTlsPeer(name, target, files, Deadline::After(comm.rendezvous_timeout()));
  const auto add = [&](std::deque<Connection>& connections, const Deadline& deadline) {
    connections.emplace_back(files, target, comm, deadline);
  };
  return std::make_unique<GrpcLink>(name, add, setup, comm);
}

}  // namespace

std::unique_ptr<ServerLink> ConnectGrpcOverTcp(int server, const ServerAddress& address,
                                               const LinkSetup& setup, FlatSpace&,
                                               const CommOptions& comm) {
  const std::string name = NameOf(server, address);
  if (!comm.tls.empty()) return ConnectUnderTls(name, address.address, setup, comm);
  const ServerHandshake handshake(ServerHandshake::Protocol::kGrpc, comm.token, setup.workers,
                                  setup.servers);
  const auto add = [&](std::deque<Connection>& connections, const Deadline& deadline) {
    FileDescriptor socket = handshake.Call(address.address, setup.worker, server, name, deadline);
    if (setup.kernel_unsent > 0) LimitUnsent(socket.get(), setup.kernel_unsent);
    connections.emplace_back(socket.Release(), address.address, comm);
  };
  return std::make_unique<GrpcLink>(name, add, setup, comm);
}

std::unique_ptr<ServerLink> ConnectGrpcOverUds(int server, const ServerAddress& address,
                                               const LinkSetup& setup, FlatSpace&,
                                               const CommOptions& comm) {
  const auto add = [&](std::deque<Connection>& connections, const Deadline& deadline) {
    connections.emplace_back(ConnectStream(address.address, deadline), UnixTarget(address.address),
                             comm);
  };
  return std::make_unique<GrpcLink>(NameOf(server, address), add, setup, comm);
}

}  // namespace ringside

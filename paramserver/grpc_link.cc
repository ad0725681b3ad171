#include "paramserver/grpc_link.h"

#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/create_channel_posix.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/impl/codegen/proto_utils.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <iterator>
#include <list>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "paramserver/grpc_payload.h"
#include "paramserver/handover.h"
#include "paramserver/packet_socket.h"
#include "paramserver/plan_message.h"
#include "paramserver/tcp_socket.h"

namespace ringside {
namespace {

/// A connection is served by one thread at a time, here and at the server: with two, parameters
/// come in while gradients go out.
constexpr std::size_t kConnections = 2;

grpc::ChannelArguments Arguments() {
  grpc::ChannelArguments arguments;
  for (const TransportArgument& argument : TransportArguments()) {
    arguments.SetInt(argument.name, argument.value);
  }
  // Each link its own connection, no proxy between processes of a job, and no repeated pushes.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  arguments.SetCompressionAlgorithm(GRPC_COMPRESS_NONE);
  return arguments;
}

/// One connection to a server.
class Connection {
 public:
  Connection(const ServerAddress& address, std::size_t kernel_unsent, const Deadline& deadline) {
    KeepGrpcRunning();
    const bool local = address.transport == PsTransport::kUds;
    const int file =
        local ? ConnectStream(address.address, deadline) : ConnectTcp(address.address, deadline);
    if (!local && kernel_unsent > 0) LimitUnsent(file, kernel_unsent);
    file_ = dup(file);
    const std::string target = local ? UnixTarget(address.address) : address.address;
    stub_ = std::make_unique<grpc::GenericStub>(
        grpc::CreateCustomInsecureChannelFromFd(target, file, Arguments()));
  }
  ~Connection() {
    if (file_ >= 0) close(file_);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  grpc::GenericStub& stub() { return *stub_; }
  /// A cancelled call ends only when the write under way does, and a frozen server, whose buffers
  /// are full, holds that up for ever.
  void Cut() const {
    if (file_ >= 0) shutdown(file_, SHUT_RDWR);
  }

 private:
  int file_ = -1;  // our own descriptor of gRPC's socket
  std::unique_ptr<grpc::GenericStub> stub_;
};

}  // namespace

class GrpcLink::Impl {
 public:
  Impl(int server, const ServerAddress& address, const ServerShare& share, const CommOptions& comm)
      : name_("server " + std::to_string(server) + " " + address.Place()),
        comm_(comm),
        in_turns_(share.in_turns) {
    const Deadline deadline = Deadline::After(comm.rendezvous_timeout());
    for (std::size_t i = 0; i < kConnections; ++i) {
      connections_.emplace_back(address, share.kernel_unsent, deadline);
    }
  }

  ~Impl();

  const std::string& name() const { return name_; }
  void Start(const PlanInfo& plan);
  void Call(const FrameHeader& header, std::span<const float> out, std::span<float> in,
            CallObserver& observer);

 private:
  /// Lives until gRPC has finished the call. One message out, one back, as in a unary call, but as
  /// a stream: a unary call would hold on to the payload until the answer, and the answer may wait
  /// for what other workers send.
  struct CallState : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
    explicit CallState(Impl& owner) : link(owner) {}

    void Begin(grpc::GenericStub& stub);
    void OnWriteDone(bool) override;
    void OnDone(const grpc::Status& status) override;

    Impl& link;
    CallObserver* observer = nullptr;
    FrameHeader header;
    std::span<float> in;
    grpc::ClientContext context;
    grpc::ByteBuffer request, reply;
    Handover handover;
    int holds = 1;  // guarded by the link's mutex_
    std::list<CallState>::iterator self;
  };
  /// Lives until gRPC lets the payload go, which may be before or after the call is finished.
  struct Lease {
    Impl* link;
    CallObserver* observer;
    std::size_t bytes;
    Handover handover;
  };

  void Prepare(grpc::ClientContext& context) const;
  CommError ErrorOf(const std::string& operation, const grpc::Status& status) const;
  CallState& AddCall();
  Connection& NextConnection(std::size_t bucket);
  void Finished(CallState& call, const grpc::Status& status);
  void Deliver(CallState& call) const;
  void Drop(CallState& call);
  void CancelAll();
  static void EndLease(void* lease);

  const std::string name_;
  const CommOptions& comm_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::list<CallState> calls_;  // guarded by mutex_
  int open_calls_ = 0;          // those of calls_ and those being destroyed; guarded by mutex_
  int leases_ = 0;              // guarded by mutex_
  std::deque<Connection> connections_;
  const bool in_turns_;
  std::size_t calls_begun_ = 0;  // guarded by mutex_
};

// gRPC may run callbacks inside any call into it, and they take the mutex: it is never held here
// while gRPC is called. A payload that the kernel has not taken yet is let go when the connection
// is closed, hence the order.
GrpcLink::Impl::~Impl() {
  CancelAll();
  for (const Connection& connection : connections_) connection.Cut();
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, comm_.timeout, [this] { return open_calls_ == 0; });
  lock.unlock();
  connections_.clear();
  lock.lock();
  changed_.wait_for(lock, comm_.timeout, [this] { return leases_ == 0; });
}

void GrpcLink::Impl::CancelAll() {
  std::vector<CallState*> held;
  {
    const std::lock_guard lock(mutex_);
    for (CallState& call : calls_) {
      ++call.holds;
      held.push_back(&call);
    }
  }
  for (CallState* call : held) {
    call->context.TryCancel();
    Drop(*call);
  }
}

void GrpcLink::Impl::Prepare(grpc::ClientContext& context) const {
  context.set_deadline(GrpcDeadline(comm_.timeout + kAnswerGrace));
  context.AddMetadata(kTokenKey, comm_.token);
}

CommError GrpcLink::Impl::ErrorOf(const std::string& operation, const grpc::Status& status) const {
  return RefusedByServer(name_, operation, status.error_details(), status.error_message());
}

void GrpcLink::Impl::Start(const PlanInfo& plan) {
  grpc::ByteBuffer request, reply;
  bool owned = false;
  grpc::GenericSerialize<grpc::ProtoBufferWriter, StartRequest>(ToRequest(plan), &request, &owned);
  grpc::ClientContext context;
  // The server listened before it published its address: a connection that fails now is tried
  // again.
  context.set_wait_for_ready(true);
  Prepare(context);
  std::optional<grpc::Status> outcome;
  Handover handover;
  handover.Pass();
  connections_.front().stub().UnaryCall(&context, kStartMethod, {}, &request, &reply,
                                        [&](grpc::Status status) {
                                          handover.Take();
                                          const std::lock_guard lock(mutex_);
                                          outcome = std::move(status);
                                          changed_.notify_all();
                                        });
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return outcome.has_value(); });  // the call has a deadline
  if (!outcome->ok()) throw ErrorOf("start", *outcome);
}

void GrpcLink::Impl::Call(const FrameHeader& header, std::span<const float> out,
                          std::span<float> in, CallObserver& observer) {
  CallState& call = AddCall();
  call.observer = &observer;
  call.header = header;
  call.in = in;
  Prepare(call.context);
  auto* lease = new Lease{this, &observer, out.size_bytes(), {}};
  lease->handover.Pass();
  call.request = MakeFrame(header, out, EndLease, lease);
  call.Begin(NextConnection(header.bucket).stub());
}

// gRPC may end the call, and thereby this object, before StartCall returns.
void GrpcLink::Impl::CallState::Begin(grpc::GenericStub& stub) {
  context.set_initial_metadata_corked(true);  // metadata and message in one write
  stub.PrepareBidiStreamingCall(&context, MethodOf(header.kind), {}, this);
  StartWriteLast(&request, {});
  StartRead(&reply);
  handover.Pass();
  StartCall();
}

void GrpcLink::Impl::CallState::OnWriteDone(bool) {
  handover.Take();
  request.Clear();
  handover.Pass();
}

void GrpcLink::Impl::CallState::OnDone(const grpc::Status& status) {
  handover.Take();
  link.Finished(*this, status);
}

GrpcLink::Impl::CallState& GrpcLink::Impl::AddCall() {
  const std::lock_guard lock(mutex_);
  CallState& call = calls_.emplace_back(*this);
  call.self = std::prev(calls_.end());
  ++open_calls_;
  ++leases_;
  return call;
}

// In turns where the link is divided: buckets of one server may all have even indices.
Connection& GrpcLink::Impl::NextConnection(std::size_t bucket) {
  if (!in_turns_) return connections_[bucket % connections_.size()];
  const std::lock_guard lock(mutex_);
  return connections_[calls_begun_++ % connections_.size()];
}

void GrpcLink::Impl::EndLease(void* lease) {
  const std::unique_ptr<Lease> ended(static_cast<Lease*>(lease));
  ended->handover.Take();
  ended->observer->Sent(ended->bytes);
  Impl& link = *ended->link;
  const std::lock_guard lock(link.mutex_);
  if (--link.leases_ == 0) link.changed_.notify_all();
}

void GrpcLink::Impl::Finished(CallState& call, const grpc::Status& status) {
  try {
    if (!status.ok()) throw ErrorOf(Describe(call.header), status);
    Deliver(call);
  } catch (const CommError& error) {
    call.observer->Failed(error);
  }
  Drop(call);
}

void GrpcLink::Impl::Deliver(CallState& call) const {
  FrameHeader header;
  std::unique_ptr<const Payload> payload;
  const FrameError error = ParseFrame(call.reply, header, payload);
  call.reply.Clear();
  if (error != FrameError::kNone) {
    throw CommError(name_, Describe(call.header), FrameErrorText(error));
  }
  if (header.kind != call.header.kind || header.bucket != call.header.bucket ||
      header.payload_bytes != call.in.size_bytes()) {
    throw CommError(name_, Describe(call.header), "the reply belongs to another request");
  }
  FloatReader reader(payload->pieces());
  reader.Assign(call.in);
  call.observer->Received(header, reader.count());
}

// A call is destroyed without the mutex, and counted as open until that is over: its context holds
// the channel, and the last reference must be the link's own, since a channel that is destroyed on
// a thread of gRPC would wait for that thread.
void GrpcLink::Impl::Drop(CallState& call) {
  std::list<CallState> ended;
  {
    const std::lock_guard lock(mutex_);
    if (--call.holds > 0) return;
    ended.splice(ended.begin(), calls_, call.self);
  }
  ended.clear();
  const std::lock_guard lock(mutex_);
  if (--open_calls_ == 0) changed_.notify_all();
}

GrpcLink::GrpcLink(int server, const ServerAddress& address, const ServerShare& share,
                   const CommOptions& comm)
    : impl_(std::make_unique<Impl>(server, address, share, comm)) {}

GrpcLink::~GrpcLink() = default;

const std::string& GrpcLink::name() const { return impl_->name(); }

void GrpcLink::Start(const PlanInfo& plan) { impl_->Start(plan); }

void GrpcLink::Call(const FrameHeader& header, std::span<const float> out, std::span<float> in,
                    CallObserver& observer) {
  impl_->Call(header, out, in, observer);
}

}  // namespace ringside

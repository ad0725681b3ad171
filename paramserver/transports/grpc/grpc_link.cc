#include "ringside/paramserver/transports/grpc/grpc_link.h"

#include <grpcpp/client_context.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/impl/codegen/proto_utils.h>

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "ringside/common/base/dilated_clock.h"
#include "ringside/common/base/file_descriptor.h"
#include "ringside/common/base/tsan_handoff.h"
#include "ringside/common/security/tls_files.h"
#include "ringside/common/sockets/tcp_socket.h"
#include "ringside/paramserver/transports/core/object_pool.h"
#include "ringside/paramserver/transports/grpc/grpc_connection.h"
#include "ringside/paramserver/transports/grpc/grpc_connections.h"
#include "ringside/paramserver/transports/grpc/grpc_payload.h"
#include "ringside/paramserver/transports/handshake/server_handshake.h"
#include "ringside/paramserver/transports/sockets/packet_socket.h"
#include "ringside/paramserver/transports/tls/tls_probe.h"
#include "ringside/paramserver/wire/plan_message.h"

namespace ringside {
namespace {

/// The number of open calls before more room is allocated.
constexpr std::size_t kCalls = 64;
class GrpcLink : public ServerLink {
 public:
  /// Borrows `comm`, also for `make`.
  GrpcLink(const std::string& name, MakeGrpcConnection make, const LinkSetup& setup,
           const CommOptions& comm)
      : name_(name),
        comm_(comm),
        connections_(std::move(make), setup.connections,
                     Deadline::After(comm.rendezvous_timeout())),
        servers_(static_cast<std::size_t>(setup.servers)) {
    calls_.reserve(kCalls);
  }

  ~GrpcLink() override;

  const std::string& name() const override { return name_; }
  void Start(const PlanInfo& plan) override;
  void Call(const FrameHeader& header, const CallFloats& floats, CallObserver& observer) override;
  int reconnects() const override { return connections_.reconnects(); }

 private:
  /// A call of the link's owner, which may become several calls of gRPC.
  struct Request {
    FrameHeader header;
    CallFloats floats;
    CallObserver* observer = nullptr;
    std::size_t place = 0;  // of its connection
    // Of the call that has failed:
    int made_again = 0;
    grpc::Status status{};
  };

  /// Lives until gRPC has finished the call. One message goes out and one comes back. It is a
  /// stream and not a unary call, because a unary call would keep the payload until the answer,
  /// which may wait for data from other workers.
  struct CallState : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
    explicit CallState(GrpcLink& owner) : link(owner) {}

    void Begin(grpc::GenericStub& stub);
    void OnWriteDone(bool) override;
    void OnDone(const grpc::Status& status) override;

    GrpcLink& link;
    Request asked;
    GrpcConnections::Used used{};
    grpc::ClientContext context;
    grpc::ByteBuffer request, reply;
    TsanHandoff handoff;
    int holds = 1;       // guarded by the link's mutex_
    std::size_t at = 0;  // its place in the link's calls_; guarded by the mutex
  };
  /// Lives until gRPC releases the payload, which may be before or after the end of the call.
  struct Lease {
    Lease(GrpcLink* owner, GrpcConnection* used, CallObserver* told, std::size_t size)
        : link(owner), connection(used), observer(told), bytes(size) {}

    GrpcLink* link;
    GrpcConnection* connection;
    CallObserver* observer;  // null: it was told at the first call
    std::size_t bytes;
    TsanHandoff handoff;
  };

  void Prepare(grpc::ClientContext& context) const;
  CommError ErrorOf(const std::string& operation, const grpc::Status& status) const;
  void Make(Request request, bool first);
  CallState& AddCall(Request request);
  void Finished(CallState& call, const grpc::Status& status);
  /// Leaves the call to the thread that makes it again. False: it has failed for good.
  bool LeaveToMend(const CallState& call, const grpc::Status& status);
  void Mend();
  grpc::Status WhyLost(std::size_t place, const grpc::Status& status) const;
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
  bool closing_ = false;           // guarded by mutex_
  std::deque<Request> to_mend_;    // guarded by mutex_
  GrpcConnections connections_;
  const std::size_t servers_;
  ObjectPool<CallState> call_pool_;
  ObjectPool<Lease> lease_pool_;
  const std::shared_ptr<PayloadPool<GrpcPayload>> payloads_ = PayloadPool<GrpcPayload>::Make();
  std::thread mender_;  // from the first lost connection on
};

// gRPC may run callbacks inside any call into it, and they lock the mutex. So it is not locked here
// while gRPC is called. Closing the connection releases payloads that the kernel has not yet taken,
// so it comes first.
GrpcLink::~GrpcLink() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
    changed_.notify_all();
  }
  if (mender_.joinable()) mender_.join();
  CancelAll();
  connections_.CutAll();
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, comm_.timeout, [this] { return open_calls_ == 0; });
  lock.unlock();
  connections_.CloseAll();
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
  context.set_deadline(GrpcDeadline(comm_.timeout + DilatedClock::ToMachine(kAnswerGrace)));
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
  connections_.first().stub().UnaryCall(&context, kStartMethod, {}, &request, &reply,
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

// Slices are dealt to servers in turn. So the slices of one server use its connections in turn,
// too.
void GrpcLink::Call(const FrameHeader& header, const CallFloats& floats, CallObserver& observer) {
  Make({.header = header,
        .floats = floats,
        .observer = &observer,
        .place = header.slice / servers_ % connections_.size()},
       true);
}

// When an answer has come, the kernel has taken the payload of every earlier call of the request.
// So the owner may change it although gRPC may still hold one.
void GrpcLink::Make(Request request, bool first) {
  const FrameHeader header = request.header;
  const std::span<const float> out = request.floats.out;
  CallObserver* told = first ? request.observer : nullptr;
  CallState& call = AddCall(std::move(request));
  Prepare(call.context);
  Lease& lease = lease_pool_.Make(this, call.used.connection, told, out.size_bytes());
  lease.handoff.Pass();
  call.request = MakeFrame(header, out, EndLease, &lease);
  call.Begin(call.used.connection->stub());
}

// gRPC may end the call before StartCall returns, which destroys this object.
void GrpcLink::CallState::Begin(grpc::GenericStub& stub) {
  context.set_initial_metadata_corked(true);  // metadata and message in one write
  stub.PrepareBidiStreamingCall(&context, MethodOf(asked.header.kind), {}, this);
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

GrpcLink::CallState& GrpcLink::AddCall(Request request) {
  CallState& call = call_pool_.Make(*this);
  call.used = connections_.Begin(request.place);
  call.asked = std::move(request);
  const std::lock_guard lock(mutex_);
  call.at = calls_.size();
  calls_.push_back(&call);
  ++open_calls_;
  ++leases_;
  return call;
}

void GrpcLink::EndLease(void* lease) {
  Lease& ended = *static_cast<Lease*>(lease);
  ended.handoff.Take();
  if (ended.observer != nullptr) ended.observer->Sent(ended.bytes);
  GrpcLink& link = *ended.link;
  link.connections_.EndPayload(*ended.connection);
  link.lease_pool_.Destroy(ended);
  const std::lock_guard lock(link.mutex_);
  if (--link.leases_ == 0) link.changed_.notify_all();
}

void GrpcLink::Finished(CallState& call, const grpc::Status& status) {
  if (LeaveToMend(call, status)) return Drop(call);
  try {
    if (!status.ok()) throw ErrorOf(Describe(call.asked.header), WhyLost(call.asked.place, status));
    Deliver(call);
  } catch (const CommError& error) {
    call.asked.observer->Failed(error);
  }
  Drop(call);
}

// A server never answers with this code.
bool GrpcLink::LeaveToMend(const CallState& call, const grpc::Status& status) {
  if (status.error_code() != grpc::StatusCode::UNAVAILABLE) return false;
  const std::lock_guard lock(mutex_);
  if (closing_ || !connections_.IsWorthAnotherCall(call.asked.place, call.used)) return false;
  try {
    if (!mender_.joinable()) mender_ = std::thread([this] { Mend(); });
  } catch (const std::system_error&) {  // no thread: the call fails
    return false;
  }
  Request& request = to_mend_.emplace_back(call.asked);
  request.made_again = call.used.made_again;
  request.status = status;
  changed_.notify_all();
  return true;
}

void GrpcLink::Mend() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock,
                  [this] { return closing_ || !to_mend_.empty() || connections_.AnyToClose(); });
    if (connections_.AnyToClose()) {
      lock.unlock();
      connections_.CloseOld();
      lock.lock();
      continue;
    }
    if (to_mend_.empty()) return;
    Request request = std::move(to_mend_.front());
    to_mend_.pop_front();
    const bool fails = closing_;
    lock.unlock();
    if (fails || !connections_.MakeAgain(request.place, request.made_again)) {
      request.observer->Failed(
          ErrorOf(Describe(request.header), WhyLost(request.place, request.status)));
    } else {
      CountRepeat(request.header);
      Make(std::move(request), false);
    }
    lock.lock();
  }
}

/// What became of a call, and if it lost its connection, why that is not made again.
grpc::Status GrpcLink::WhyLost(std::size_t place, const grpc::Status& status) const {
  if (status.error_code() != grpc::StatusCode::UNAVAILABLE) return status;
  const std::string why_not_again = connections_.WhyNotAgain(place);
  if (why_not_again.empty()) return status;
  return {status.error_code(), status.error_message() + ", " + why_not_again,
          status.error_details()};
}

void GrpcLink::Deliver(CallState& call) const {
  FrameHeader header;
  const FrameHeader& asked = call.asked.header;
  const std::span<float> in = call.asked.floats.in;
  const auto payload = payloads_->Take();
  const FrameError error = payload->Assign(call.reply, header);
  call.reply.Clear();
  if (error != FrameError::kNone) {
    throw CommError(name_, Describe(asked), FrameErrorText(error));
  }
  if (header.kind != asked.kind || header.slice != asked.slice ||
      header.payload_bytes != in.size_bytes()) {
    throw CommError(name_, Describe(asked), "the reply belongs to another request");
  }
  call.used.connection->has_answered = true;
  FloatReader reader(payload->pieces());
  reader.Assign(in);
  call.asked.observer->Received(header, reader.count());
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
  GrpcConnection& connection = *call.used.connection;
  call_pool_.Destroy(call);
  const bool was_last = connections_.EndCall(connection);
  const std::lock_guard lock(mutex_);
  if (--open_calls_ == 0 || was_last) changed_.notify_all();  // the connection may be one to close
}

std::string NameOf(int server, const ServerAddress& address) {
  return "server " + std::to_string(server) + " " + address.DisplayText();
}

std::unique_ptr<ServerLink> ConnectUnderTls(const std::string& name, const std::string& target,
                                            const LinkSetup& setup, const CommOptions& comm) {
  const TlsFiles files(comm.tls);
  CheckTlsPeer(name, target, files, Deadline::After(comm.rendezvous_timeout()));
  const auto make = [files, target, &comm](const Deadline& deadline, IfRefused if_refused) {
    // gRPC would try again until the deadline.
    const FileDescriptor probe(ConnectTcp(target, deadline, if_refused));
    return std::make_unique<GrpcConnection>(files, target, comm, deadline);
  };
  return std::make_unique<GrpcLink>(name, make, setup, comm);
}

}  // namespace

std::unique_ptr<ServerLink> ConnectGrpcOverTcp(int server, const ServerAddress& address,
                                               const LinkSetup& setup, FlatSpace&,
                                               const CommOptions& comm) {
  const std::string name = NameOf(server, address);
  if (!comm.tls.empty()) return ConnectUnderTls(name, address.address, setup, comm);
  const ServerHandshake handshake(ServerHandshake::Protocol::kGrpc, comm.token, setup.workers,
                                  setup.servers);
  const auto make = [=, &comm, target = address.address](const Deadline& deadline,
                                                         IfRefused if_refused) {
    FileDescriptor socket =
        handshake.Call(target, setup.worker, server, name, deadline, if_refused);
    if (setup.kernel_unsent > 0) LimitUnsent(socket.get(), setup.kernel_unsent);
    return std::make_unique<GrpcConnection>(std::move(socket), target, comm);
  };
  return std::make_unique<GrpcLink>(name, make, setup, comm);
}

std::unique_ptr<ServerLink> ConnectGrpcOverUds(int server, const ServerAddress& address,
                                               const LinkSetup& setup, FlatSpace&,
                                               const CommOptions& comm) {
  const auto make = [target = address.address, &comm](const Deadline& deadline, IfRefused) {
    return std::make_unique<GrpcConnection>(FileDescriptor(ConnectStream(target, deadline)),
                                            UnixTarget(target), comm);
  };
  return std::make_unique<GrpcLink>(NameOf(server, address), make, setup, comm);
}

}  // namespace ringside

#include "ringside/experiments/job/coordinator/coordinator.h"

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <chrono>
#include <utility>

#include "ringside/common/core/errors.h"
#include "ringside/common/core/file_descriptor.h"
#include "ringside/common/security/secrets.h"
#include "ringside/common/sockets/tcp_socket.h"
#include "ringside/experiments/job/coordinator/coordinator.grpc.pb.h"
#include "ringside/experiments/job/coordinator/coordinator_messages.h"
#include "ringside/experiments/job/coordinator/front_door.h"

namespace ringside {
namespace {

constexpr int kMaxMessageBytes = 4 << 20;
// A member waits for a few keys at once and sends heartbeats.
constexpr int kMaxCallsPerConnection = 128;
// What a call may send before the coordinator reads its request, and so before it knows the token.
constexpr int kUnreadBytesPerCall = 64 << 10;
constexpr int kHandshakeTimeoutMs = 10'000;
constexpr int kIdleConnectionMs = 30'000;

grpc::Status Unauthenticated() {
  return {grpc::StatusCode::UNAUTHENTICATED, "the job's token is missing or wrong"};
}

bool HasToken(const grpc::CallbackServerContext& context, const std::string& token) {
  const auto found = context.client_metadata().find(kTokenMetadata);
  return found != context.client_metadata().end() &&
         SecretsEqual({found->second.data(), found->second.size()}, token);
}

/// Turns an exception of the job state into a status.
template <typename Action>
grpc::Status Run(const Action& action) {
  try {
    action();
    return grpc::Status::OK;
  } catch (const ConfigError& error) {
    return {grpc::StatusCode::FAILED_PRECONDITION, error.what()};
  } catch (const std::exception& error) {
    return {grpc::StatusCode::INVALID_ARGUMENT, error.what()};
  }
}

/// A call with one request. Reads it only if the caller has the token.
template <typename Request>
class Call : public grpc::ServerReadReactor<Request> {
 public:
  explicit Call(bool has_token) {
    if (has_token) {
      this->StartRead(&request_);
    } else {
      this->Finish(Unauthenticated());
    }
  }

  void OnReadDone(bool ok) override {
    if (ok) {
      Take(request_);
    } else {
      this->Finish({grpc::StatusCode::INVALID_ARGUMENT, "the call has no request"});
    }
  }
  void OnDone() override { delete this; }

 private:
  /// Calls `Finish`, now or later.
  virtual void Take(const Request& request) = 0;

  Request request_;
};

/// A call that is answered at once.
template <typename Request, typename Action>
class ActionCall : public Call<Request> {
 public:
  ActionCall(bool has_token, Action action)
      : Call<Request>(has_token), action_(std::move(action)) {}

 private:
  void Take(const Request& request) override {
    this->Finish(Run([&] { action_(request); }));
  }

  const Action action_;
};

/// A Get, which may wait. Setting the key ends it, or the deadline of its caller.
class GetCall : public Call<job::GetRequest> {
 public:
  GetCall(bool has_token, JobState& job_state, job::GetReply* reply)
      : Call(has_token), job_state_(job_state), reply_(reply) {}

  void OnCancel() override {
    cancelled_ = true;
    EndWait();
  }

 private:
  void Take(const job::GetRequest& request) override {
    waiter_ = job_state_.WhenSet(request.key(), [this](const std::string& value) {
      reply_->set_value(value);
      Finish(grpc::Status::OK);
    });
    // The caller may have gone before there was a waiter.
    if (cancelled_) EndWait();
  }

  /// Only one of its callers cancels the wait, and only if the key was not set.
  void EndWait() {
    if (job_state_.CancelWait(waiter_)) Finish(grpc::Status::CANCELLED);
  }

  JobState& job_state_;
  job::GetReply* reply_;
  std::atomic<std::uint64_t> waiter_{0};
  std::atomic<bool> cancelled_{false};
};

}  // namespace

class Coordinator::Service : public job::CoordinatorService::CallbackService {
 public:
  using Context = grpc::CallbackServerContext;
  template <typename Request>
  using Reactor = grpc::ServerReadReactor<Request>;

  Service(JobState& job_state, std::string token)
      : job_state_(job_state), token_(std::move(token)) {}

  Reactor<job::JoinRequest>* Join(Context* context, job::JoinReply* reply) override {
    return Answer<job::JoinRequest>(context, [this, reply](const job::JoinRequest& request) {
      const JobState::MemberHandle ticket =
          job_state_.Join({request.protocol(),
                           {FromMessage(request.role()), request.index()},
                           request.pid(),
                           request.host(),
                           request.spec_hash()});
      ToMessage(ticket, reply->mutable_member());
    });
  }

  Reactor<job::SetRequest>* Set(Context* context, job::Empty*) override {
    return Answer<job::SetRequest>(context, [this](const job::SetRequest& request) {
      job_state_.Set(request.key(), request.value());
    });
  }

  Reactor<job::GetRequest>* Get(Context* context, job::GetReply* reply) override {
    return new GetCall(HasToken(*context, token_), job_state_, reply);
  }

  Reactor<job::BeatRequest>* Beat(Context* context, job::BeatReply* reply) override {
    return Answer<job::BeatRequest>(context, [this, reply](const job::BeatRequest& request) {
      ToMessage(job_state_.HandleHeartbeat(FromMessage(request.member()), FromMessage(request)),
                reply);
    });
  }

  Reactor<job::HandInRequest>* SubmitReport(Context* context, job::Empty*) override {
    return Answer<job::HandInRequest>(context, [this](const job::HandInRequest& request) {
      job_state_.SubmitReport(FromMessage(request.member()), request.content());
    });
  }

  Reactor<job::TracePiece>* SubmitTrace(Context* context, job::Empty*) override {
    return Answer<job::TracePiece>(context, [this](const job::TracePiece& request) {
      job_state_.SubmitTrace(FromMessage(request.member()), FromMessage(request));
    });
  }

  Reactor<job::Empty>* Clock(Context* context, job::ClockReply* reply) override {
    return Answer<job::Empty>(
        context, [reply](const job::Empty&) { reply->set_nanoseconds(SteadyNanoseconds()); });
  }

  Reactor<job::FailRequest>* Fail(Context* context, job::Empty*) override {
    return Answer<job::FailRequest>(context, [this](const job::FailRequest& request) {
      job_state_.Fail(FromMessage(request.member()), FromMessage(request.kind()),
                      request.message());
    });
  }

  Reactor<job::FailRequest>* ReportChildExit(Context* context, job::Empty*) override {
    return Answer<job::FailRequest>(context, [this](const job::FailRequest& request) {
      job_state_.ReportChildExit(FromMessage(request.member()), FromMessage(request.kind()),
                                 request.exit_code(), request.message());
    });
  }

  Reactor<job::LeaveRequest>* Leave(Context* context, job::Empty*) override {
    return Answer<job::LeaveRequest>(context, [this](const job::LeaveRequest& request) {
      job_state_.Leave(FromMessage(request.member()));
    });
  }

 private:
  template <typename Request, typename Action>
  Reactor<Request>* Answer(Context* context, Action action) {
    return new ActionCall<Request, Action>(HasToken(*context, token_), std::move(action));
  }

  JobState& job_state_;
  const std::string token_;
};

struct Coordinator::Impl {
  using Acceptor = grpc::experimental::ExternalConnectionAcceptor;

  Impl(JobState& job_state, const std::string& token) : service(job_state, token) {}

  std::unique_ptr<FrontDoor> MakeDoor(const Options& options);

  Service service;
  std::unique_ptr<Acceptor> acceptor;  // of the door
  std::unique_ptr<grpc::Server> server;
  std::unique_ptr<FrontDoor> door;  // null where the coordinator listens on a path
};

std::unique_ptr<FrontDoor> Coordinator::Impl::MakeDoor(const Options& options) {
  const auto admit = [this](int listener, FileDescriptor socket) {
    Acceptor::NewConnectionParameters connection;
    connection.listener_fd = listener;
    connection.fd = socket.Release();
    acceptor->HandleNewConnection(&connection);
  };
  return std::make_unique<FrontDoor>(options.address, options.port, admit);
}

Coordinator::Coordinator(JobState& job_state, const Options& options)
    : impl_(std::make_unique<Impl>(job_state, options.token)) {
  using Type = grpc::ServerBuilder::experimental_type::ExternalConnectionType;
  grpc::ServerBuilder builder;
  const auto credentials = grpc::InsecureServerCredentials();
  int on_path = 0;
  if (options.socket_path.empty()) {
    impl_->acceptor =
        builder.experimental().AddExternalConnectionAcceptor(Type::FROM_FD, credentials);
  } else {
    target_ = "unix:" + options.socket_path;
    builder.AddListeningPort(target_, credentials, &on_path);
  }
  builder.SetMaxReceiveMessageSize(kMaxMessageBytes);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kMaxCallsPerConnection);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, kUnreadBytesPerCall);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_BDP_PROBE, 0);  // It would enlarge these bytes.
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kHandshakeTimeoutMs);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, kIdleConnectionMs);
  builder.RegisterService(&impl_->service);
  impl_->server = builder.BuildAndStart();
  if (impl_->server == nullptr || (!options.socket_path.empty() && on_path == 0)) {
    throw ConfigError("the coordinator cannot listen on " + target_);
  }
  if (!options.socket_path.empty()) return;
  try {
    impl_->door = impl_->MakeDoor(options);
  } catch (const CommError& error) {
    throw ConfigError("the coordinator cannot listen on " +
                      Endpoint(options.address, options.port) + ": " + error.reason());
  }
  target_ = impl_->door->endpoint();
}

Coordinator::~Coordinator() {
  impl_->door.reset();
  impl_->server->Shutdown(std::chrono::system_clock::now());
}

}  // namespace ringside

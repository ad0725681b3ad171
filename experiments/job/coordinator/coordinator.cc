#include "ringside/experiments/job/coordinator/coordinator.h"

#include <grpcpp/grpcpp.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <future>
#include <system_error>
#include <thread>
#include <utility>

#include "ringside/common/base/dilated_clock.h"
#include "ringside/common/base/errors.h"
#include "ringside/common/base/tsan_handoff.h"
#include "ringside/common/security/handshake_mac.h"
#include "ringside/common/security/secrets.h"
#include "ringside/common/security/tls_files.h"
#include "ringside/common/sockets/front_door.h"
#include "ringside/common/sockets/tcp_socket.h"
#include "ringside/experiments/job/coordinator/coordinator.grpc.pb.h"
#include "ringside/experiments/job/coordinator/coordinator_messages.h"
#include "ringside/experiments/job/coordinator/grpc_lifetime.h"
#include "ringside/paramserver/transports/tls/tls_credentials.h"

namespace ringside {
namespace {

constexpr int kMaxMessageBytes = 4 << 20;
// A member waits for a few keys at once and sends heartbeats.
constexpr int kMaxCallsPerConnection = 128;
// Besides those of the members.
constexpr std::size_t kSpareConnections = 64;
// What a call may send before the coordinator reads its request, and so before it knows the token.
constexpr int kUnreadBytesPerCall = 64 << 10;
// Who does nothing is to be gone within 10 s.
constexpr int kHandshakeTimeoutMs = 9'000;
constexpr int kIdleConnectionMs = 9'000;
// Whoever says nothing for this long is asked whether it lives, and has to answer. Together they
// are longer than a lease, so members are lost before.
constexpr std::chrono::milliseconds kAskAfter{4'000};
constexpr std::chrono::milliseconds kAnswerWithin{5'000};

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

std::shared_ptr<grpc::ServerCredentials> Credentials(const Coordinator::Options& options) {
  if (options.tls.empty() || !options.socket_path.empty()) return grpc::InsecureServerCredentials();
  return MakeTlsServerCredentials(TlsFiles(options.tls));
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
    handoff_.Take();
    if (ok) {
      Take(request_);
    } else {
      End({grpc::StatusCode::INVALID_ARGUMENT, "the call has no request"});
    }
    handoff_.Pass();
  }
  void OnDone() override {
    handoff_.Take();
    delete this;
  }

 protected:
  void End(const grpc::Status& status) {
    handoff_.Pass();
    this->Finish(status);
  }

  TsanHandoff handoff_;  // of this object and of the reply

 private:
  /// Calls `End`, now or later.
  virtual void Take(const Request& request) = 0;

  Request request_;
};

/// A call that is answered at once.
template <typename Request, typename Action>
class ActionCall : public Call<Request> {
 public:
  ActionCall(bool has_token, Action action) : Call<Request>(has_token), action_(std::move(action)) {
    this->handoff_.Pass();
  }

 private:
  void Take(const Request& request) override {
    this->End(Run([&] { action_(request); }));
  }

  const Action action_;
};

/// A Get, which may wait. Setting the key ends it, or the deadline of its caller.
class GetCall : public Call<job::GetRequest> {
 public:
  GetCall(bool has_token, JobState& job_state, job::GetReply* reply)
      : Call(has_token), job_state_(job_state), reply_(reply) {
    handoff_.Pass();
  }

  void OnCancel() override {
    handoff_.Take();
    cancelled_ = true;
    EndWait();
    handoff_.Pass();
  }

 private:
  void Take(const job::GetRequest& request) override {
    waiter_ = job_state_.WhenSet(request.key(), [this](const std::string& value) {
      reply_->set_value(value);
      End(grpc::Status::OK);
    });
    // The caller may have gone before there was a waiter.
    if (cancelled_) EndWait();
  }

  /// Only one of its callers cancels the wait, and only if the key was not set.
  void EndWait() {
    if (job_state_.CancelWait(waiter_)) End(grpc::Status::CANCELLED);
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
      reply->set_nonce(nonce_);
    });
  }

  Reactor<job::SetRequest>* Set(Context* context, job::Empty*) override {
    return Answer<job::SetRequest>(context, [this](const job::SetRequest& request) {
      job_state_.Set(request.key(), request.value());
    });
  }

  Reactor<job::ForgetRequest>* Forget(Context* context, job::Empty*) override {
    return Answer<job::ForgetRequest>(
        context, [this](const job::ForgetRequest& request) { job_state_.Forget(request.key()); });
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
      job_state_.Fail(FromMessage(request.member()),
                      {FromMessage(request.kind()), request.message(), request.accused()});
    });
  }

  Reactor<job::FailRequest>* ReportChildExit(Context* context, job::Empty*) override {
    return Answer<job::FailRequest>(context, [this](const job::FailRequest& request) {
      job_state_.ReportChildExit(FromMessage(request.member()),
                                 {.kind = FromMessage(request.kind()),
                                  .code = request.exit_code(),
                                  .message = request.message(),
                                  .last_line = request.last_line()});
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
  const std::string nonce_ = RandomHex(kMacBytes);
};

struct Coordinator::Impl {
  using Acceptor = grpc::experimental::ExternalConnectionAcceptor;

  Impl(std::shared_ptr<JobState> shared, const std::string& token)
      : job_state(std::move(shared)), service(*job_state, token) {}

  /// What the options say, made ready to build. `on_path` becomes 0 if the path cannot be listened
  /// on.
  void Prepare(grpc::ServerBuilder& builder, const Options& options, int* on_path);
  std::unique_ptr<FrontDoor> MakeDoor(const Options& options);
  void StopServing();

  const std::shared_ptr<JobState> job_state;
  Service service;
  std::unique_ptr<Acceptor> acceptor;  // of the door
  std::unique_ptr<grpc::Server> server;
  std::unique_ptr<FrontDoor> door;  // null where the coordinator listens on a path
  std::promise<void> stop;          // asks `stopper` to stop serving
  std::promise<void> stopped;
  std::thread stopper;
};

void Coordinator::Impl::Prepare(grpc::ServerBuilder& builder, const Options& options,
                                int* on_path) {
  using Type = grpc::ServerBuilder::experimental_type::ExternalConnectionType;
  const auto credentials = Credentials(options);
  if (options.socket_path.empty()) {
    acceptor = builder.experimental().AddExternalConnectionAcceptor(Type::FROM_FD, credentials);
  } else {
    builder.AddListeningPort("unix:" + options.socket_path, credentials, on_path);
  }
  builder.SetMaxReceiveMessageSize(kMaxMessageBytes);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kMaxCallsPerConnection);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, kUnreadBytesPerCall);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_BDP_PROBE, 0);  // It would enlarge these bytes.
  builder.AddChannelArgument(GRPC_ARG_SERVER_HANDSHAKE_TIMEOUT_MS, kHandshakeTimeoutMs);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS, kIdleConnectionMs);
  const auto milliseconds = [](std::chrono::milliseconds time) {
    return static_cast<int>(DilatedClock::ToMachine(time).count());
  };
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, milliseconds(kAskAfter));
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, milliseconds(kAnswerWithin));
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  // Otherwise only two such questions are sent to a client that has no call.
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  builder.RegisterService(&service);
}

std::unique_ptr<FrontDoor> Coordinator::Impl::MakeDoor(const Options& options) {
  const auto admit = [this](int listener, WaitingRoom::Visitor visitor) {
    Acceptor::NewConnectionParameters connection;
    connection.listener_fd = listener;
    connection.fd = visitor.socket.Release();
    acceptor->HandleNewConnection(&connection);
  };
  const auto judge = options.tls.empty() ? BeginsAsHttp2() : BeginsAsTls();
  // A member has one connection, and an agent of its host may have another.
  const std::size_t members = 2 * static_cast<std::size_t>(job_state->members());
  const std::size_t most = options.most_connections == 0
                               ? std::max(MostStrangers(), members + kSpareConnections)
                               : options.most_connections;
  return std::make_unique<FrontDoor>(options.address, options.port, judge, admit,
                                     FrontDoor::Options{.most_admitted = most});
}

void Coordinator::Impl::StopServing() {
  door.reset();
  server->Shutdown(std::chrono::system_clock::now());
  server.reset();
  stopped.set_value();
}

Coordinator::Coordinator(std::shared_ptr<JobState> job_state, const Options& options)
    : stop_grace_(options.stop_grace) {
  KeepGrpcInitialized();
  impl_ = std::make_shared<Impl>(std::move(job_state), options.token);
  const bool on_path = !options.socket_path.empty();
  target_ = on_path ? "unix:" + options.socket_path : Endpoint(options.address, options.port);
  grpc::ServerBuilder builder;
  int port = 0;
  impl_->Prepare(builder, options, &port);
  impl_->server = builder.BuildAndStart();
  if (impl_->server == nullptr || (on_path && port == 0)) {
    throw ConfigError("the coordinator cannot listen on " + target_);
  }
  try {
    if (!on_path) {
      impl_->door = impl_->MakeDoor(options);
      target_ = impl_->door->endpoint();
    }
    // It is there from the start: at the end there may be no room for another thread.
    impl_->stopper = std::thread([impl = impl_, asked = impl_->stop.get_future()] {
      asked.wait();  // until the job ends
      impl->StopServing();
    });
  } catch (const CommError& error) {
    const std::string hint = options.port == 0 ? "" : "; another rank 0 may have this port";
    throw ConfigError("the coordinator cannot listen on " + target_ + ": " + error.reason() + hint);
  } catch (const std::system_error& error) {
    throw ResourceError("a thread of the coordinator", error.code().value());
  }
}

Coordinator::~Coordinator() {
  std::future<void> stopped = impl_->stopped.get_future();
  impl_->stop.set_value();
  if (stopped.wait_for(stop_grace_) == std::future_status::ready) {
    impl_->stopper.join();
    return;
  }
  impl_->stopper.detach();
  ExitWithoutDestructors();
}

}  // namespace ringside

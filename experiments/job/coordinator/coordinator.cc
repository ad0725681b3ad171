#include "ringside/experiments/job/coordinator/coordinator.h"

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <chrono>
#include <utility>

#include "ringside/common/core/errors.h"
#include "ringside/common/security/secrets.h"
#include "ringside/experiments/job/coordinator/coordinator.grpc.pb.h"
#include "ringside/experiments/job/coordinator/coordinator_messages.h"

namespace ringside {
namespace {

constexpr int kMaxMessageBytes = 4 << 20;
constexpr int kMaxCallsPerConnection = 1024;

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

std::string Listening(const Coordinator::Options& options, int port) {
  if (!options.socket_path.empty()) return "unix:" + options.socket_path;
  const bool ipv6 = options.address.find(':') != std::string::npos;
  return (ipv6 ? "[" + options.address + "]" : options.address) + ":" + std::to_string(port);
}

/// A Get that waits. Setting the key ends it, or the deadline of its caller.
class PendingGet : public grpc::ServerUnaryReactor {
 public:
  PendingGet(JobState& job_state, const std::string& key, job::GetReply* reply)
      : job_state_(job_state) {
    waiter_ = job_state_.WhenSet(key, [this, reply](const std::string& value) {
      reply->set_value(value);
      Finish(grpc::Status::OK);
    });
  }

  void OnCancel() override {
    const std::uint64_t waiter = waiter_.load();  // first, because it orders the other reads here
    if (job_state_.CancelWait(waiter)) Finish(grpc::Status::CANCELLED);
  }
  void OnDone() override { delete this; }

 private:
  JobState& job_state_;
  /// Set by the handler's thread and read by the thread that cancels. gRPC orders the two, but
  /// ThreadSanitizer does not see it.
  std::atomic<std::uint64_t> waiter_{0};
};

}  // namespace

class Coordinator::Service : public job::CoordinatorService::CallbackService {
 public:
  using Context = grpc::CallbackServerContext;
  using Reactor = grpc::ServerUnaryReactor;

  Service(JobState& job_state, std::string token)
      : job_state_(job_state), token_(std::move(token)) {}

  Reactor* Join(Context* context, const job::JoinRequest* request, job::JoinReply* reply) override {
    return Answer(context, [&] {
      const JobState::MemberHandle ticket =
          job_state_.Join({request->protocol(),
                           {FromMessage(request->role()), request->index()},
                           request->pid(),
                           request->host(),
                           request->spec_hash()});
      ToMessage(ticket, reply->mutable_member());
    });
  }

  Reactor* Set(Context* context, const job::SetRequest* request, job::Empty*) override {
    return Answer(context, [&] { job_state_.Set(request->key(), request->value()); });
  }

  Reactor* Get(Context* context, const job::GetRequest* request, job::GetReply* reply) override {
    if (!HasToken(*context, token_)) return Answer(context, [] {});
    return new PendingGet(job_state_, request->key(), reply);
  }

  Reactor* Beat(Context* context, const job::BeatRequest* request, job::BeatReply* reply) override {
    return Answer(context, [&] {
      ToMessage(job_state_.HandleHeartbeat(FromMessage(request->member()), FromMessage(*request)),
                reply);
    });
  }

  Reactor* SubmitReport(Context* context, const job::HandInRequest* request, job::Empty*) override {
    return Answer(context, [&] {
      job_state_.SubmitReport(FromMessage(request->member()), request->content());
    });
  }

  Reactor* SubmitTrace(Context* context, const job::TracePiece* request, job::Empty*) override {
    return Answer(context, [&] {
      job_state_.SubmitTrace(FromMessage(request->member()), FromMessage(*request));
    });
  }

  Reactor* Clock(Context* context, const job::Empty*, job::ClockReply* reply) override {
    return Answer(context, [&] { reply->set_nanoseconds(SteadyNanoseconds()); });
  }

  Reactor* Fail(Context* context, const job::FailRequest* request, job::Empty*) override {
    return Answer(context, [&] {
      job_state_.Fail(FromMessage(request->member()), FromMessage(request->kind()),
                      request->message());
    });
  }

  Reactor* ReportChildExit(Context* context, const job::FailRequest* request,
                           job::Empty*) override {
    return Answer(context, [&] {
      job_state_.ReportChildExit(FromMessage(request->member()), FromMessage(request->kind()),
                                 request->exit_code(), request->message());
    });
  }

  Reactor* Leave(Context* context, const job::LeaveRequest* request, job::Empty*) override {
    return Answer(context, [&] { job_state_.Leave(FromMessage(request->member())); });
  }

 private:
  template <typename Action>
  Reactor* Answer(Context* context, const Action& action) {
    Reactor* reactor = context->DefaultReactor();
    reactor->Finish(HasToken(*context, token_) ? Run(action) : Unauthenticated());
    return reactor;
  }

  JobState& job_state_;
  const std::string token_;
};

struct Coordinator::Impl {
  Impl(JobState& job_state, const std::string& token) : service(job_state, token) {}

  Service service;
  std::unique_ptr<grpc::Server> server;
};

Coordinator::Coordinator(JobState& job_state, const Options& options)
    : impl_(std::make_unique<Impl>(job_state, options.token)) {
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort(Listening(options, options.port), grpc::InsecureServerCredentials(),
                           &port);
  builder.SetMaxReceiveMessageSize(kMaxMessageBytes);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kMaxCallsPerConnection);
  // Two jobs on one port must fail. They must not share it.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.RegisterService(&impl_->service);
  impl_->server = builder.BuildAndStart();
  if (impl_->server == nullptr || port == 0) {
    throw ConfigError("the coordinator cannot listen on " + Listening(options, options.port));
  }
  target_ = Listening(options, port);
}

Coordinator::~Coordinator() { impl_->server->Shutdown(std::chrono::system_clock::now()); }

}  // namespace ringside

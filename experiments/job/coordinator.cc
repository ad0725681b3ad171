#include "experiments/job/coordinator.h"

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <chrono>
#include <utility>

#include "common/errors.h"
#include "experiments/job/coordinator.grpc.pb.h"
#include "experiments/job/coordinator_messages.h"
#include "experiments/job/token.h"

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
         TokensEqual({found->second.data(), found->second.size()}, token);
}

/// Turns what the board throws into a status.
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

/// A Get under way: finished by whoever sets the key, or by the caller's deadline.
class PendingGet : public grpc::ServerUnaryReactor {
 public:
  PendingGet(JobBoard& board, const std::string& key, job::GetReply* reply) : board_(board) {
    waiter_ = board_.WhenSet(key, [this, reply](const std::string& value) {
      reply->set_value(value);
      Finish(grpc::Status::OK);
    });
  }

  void OnCancel() override {
    const std::uint64_t waiter = waiter_.load();  // first: it orders what else is read here
    if (board_.CancelWait(waiter)) Finish(grpc::Status::CANCELLED);
  }
  void OnDone() override { delete this; }

 private:
  JobBoard& board_;
  /// Set by the thread of the handler, read by the one that cancels: gRPC orders the two, unseen by
  /// ThreadSanitizer.
  std::atomic<std::uint64_t> waiter_{0};
};

}  // namespace

class Coordinator::Service : public job::CoordinatorService::CallbackService {
 public:
  using Context = grpc::CallbackServerContext;
  using Reactor = grpc::ServerUnaryReactor;

  Service(JobBoard& board, std::string token) : board_(board), token_(std::move(token)) {}

  Reactor* Join(Context* context, const job::JoinRequest* request, job::JoinReply* reply) override {
    return Answer(context, [&] {
      const JobBoard::Ticket ticket = board_.Join({request->protocol(),
                                                   {FromMessage(request->role()), request->index()},
                                                   request->pid(),
                                                   request->host(),
                                                   request->spec_hash()});
      ToMessage(ticket, reply->mutable_member());
    });
  }

  Reactor* Set(Context* context, const job::SetRequest* request, job::Empty*) override {
    return Answer(context, [&] { board_.Set(request->key(), request->value()); });
  }

  Reactor* Get(Context* context, const job::GetRequest* request, job::GetReply* reply) override {
    if (!HasToken(*context, token_)) return Answer(context, [] {});
    return new PendingGet(board_, request->key(), reply);
  }

  Reactor* Beat(Context* context, const job::BeatRequest* request, job::BeatReply* reply) override {
    return Answer(context, [&] {
      ToMessage(board_.TakeBeat(FromMessage(request->member()), FromMessage(*request)), reply);
    });
  }

  Reactor* HandIn(Context* context, const job::HandInRequest* request, job::Empty*) override {
    return Answer(context,
                  [&] { board_.HandIn(FromMessage(request->member()), request->content()); });
  }

  Reactor* HandInTrace(Context* context, const job::TracePiece* request, job::Empty*) override {
    return Answer(context, [&] {
      board_.HandInTrace(FromMessage(request->member()), FromMessage(*request));
    });
  }

  Reactor* Clock(Context* context, const job::Empty*, job::ClockReply* reply) override {
    return Answer(context, [&] { reply->set_nanoseconds(SteadyNanoseconds()); });
  }

  Reactor* Fail(Context* context, const job::FailRequest* request, job::Empty*) override {
    return Answer(context, [&] {
      board_.Fail(FromMessage(request->member()), FromMessage(request->kind()), request->message());
    });
  }

  Reactor* EndOfChild(Context* context, const job::FailRequest* request, job::Empty*) override {
    return Answer(context, [&] {
      board_.EndOfChild(FromMessage(request->member()), FromMessage(request->kind()),
                        request->exit_code(), request->message());
    });
  }

  Reactor* Leave(Context* context, const job::LeaveRequest* request, job::Empty*) override {
    return Answer(context, [&] { board_.Leave(FromMessage(request->member())); });
  }

 private:
  template <typename Action>
  Reactor* Answer(Context* context, const Action& action) {
    Reactor* reactor = context->DefaultReactor();
    reactor->Finish(HasToken(*context, token_) ? Run(action) : Unauthenticated());
    return reactor;
  }

  JobBoard& board_;
  const std::string token_;
};

struct Coordinator::Hidden {
  Hidden(JobBoard& board, const std::string& token) : service(board, token) {}

  Service service;
  std::unique_ptr<grpc::Server> server;
};

Coordinator::Coordinator(JobBoard& board, const Options& options)
    : hidden_(std::make_unique<Hidden>(board, options.token)) {
  grpc::ServerBuilder builder;
  int port = 0;
  builder.AddListeningPort(Listening(options, options.port), grpc::InsecureServerCredentials(),
                           &port);
  builder.SetMaxReceiveMessageSize(kMaxMessageBytes);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, kMaxCallsPerConnection);
  // Two jobs on one port must collide, not share it.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.RegisterService(&hidden_->service);
  hidden_->server = builder.BuildAndStart();
  if (hidden_->server == nullptr || port == 0) {
    throw ConfigError("the coordinator cannot listen on " + Listening(options, options.port));
  }
  target_ = Listening(options, port);
}

Coordinator::~Coordinator() { hidden_->server->Shutdown(std::chrono::system_clock::now()); }

}  // namespace ringside

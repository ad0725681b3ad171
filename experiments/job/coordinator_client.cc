#include "experiments/job/coordinator_client.h"

#include <grpcpp/grpcpp.h>

#include "common/errors.h"
#include "experiments/job/coordinator.grpc.pb.h"
#include "experiments/job/coordinator_messages.h"

namespace ringside {
namespace {

constexpr int kClockExchanges = 16;
constexpr std::size_t kMaxMessageTextBytes = 64 << 10;

// Monotonic, so that a stepped wall clock ends no call.
gpr_timespec At(const Deadline& deadline) {
  return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                      gpr_time_from_millis(deadline.remaining().count(), GPR_TIMESPAN));
}

std::string Reason(const grpc::Status& status) {
  if (status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED) return "no answer in time";
  return status.error_message();
}

}  // namespace

struct CoordinatorClient::Hidden {
  std::unique_ptr<job::CoordinatorService::Stub> stub;
  JobBoard::Ticket ticket;

  /// `call` runs one method of the stub with the context it is given.
  template <typename Call>
  void Run(const Options& options, const std::string& operation, const Deadline& deadline,
           bool wait_for_ready, const Call& call) const {
    grpc::ClientContext context;
    context.AddMetadata(kTokenMetadata, options.token);
    context.set_deadline(At(deadline));
    context.set_wait_for_ready(wait_for_ready);
    const grpc::Status status = call(context);
    if (status.ok()) return;
    if (status.error_code() == grpc::StatusCode::UNAUTHENTICATED ||
        status.error_code() == grpc::StatusCode::FAILED_PRECONDITION) {
      throw ConfigError("the coordinator at " + options.target + " refuses " + operation + ": " +
                        status.error_message());
    }
    throw CommError("coordinator " + options.target, operation, Reason(status));
  }
};

CoordinatorClient::CoordinatorClient(const Options& options)
    : options_(options), hidden_(std::make_unique<Hidden>()) {
  grpc::ChannelArguments arguments;
  // Proxies are for the outside world; and clients of one process share nothing.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 50);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 50);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 500);
  hidden_->stub = job::CoordinatorService::NewStub(
      grpc::CreateCustomChannel(options_.target, grpc::InsecureChannelCredentials(), arguments));
}

CoordinatorClient::~CoordinatorClient() = default;

Member CoordinatorClient::Join(const JobBoard::JoinRequest& request, const Deadline& deadline) {
  job::JoinRequest message;
  message.set_protocol(request.protocol);
  message.set_role(ToMessage(request.who.role));
  message.set_index(request.who.index);
  message.set_pid(request.pid);
  message.set_host(request.host);
  message.set_spec_hash(request.spec_hash);
  job::JoinReply reply;
  hidden_->Run(options_, "joining the job", deadline, true, [&](grpc::ClientContext& context) {
    return hidden_->stub->Join(&context, message, &reply);
  });
  hidden_->ticket = FromMessage(reply.member());
  return hidden_->ticket.who;
}

void CoordinatorClient::Set(std::string_view key, std::string_view value) {
  job::SetRequest message;
  message.set_key(key.data(), key.size());
  message.set_value(value.data(), value.size());
  job::Empty reply;
  hidden_->Run(
      options_, "setting " + std::string(key), CallDeadline(), false,
      [&](grpc::ClientContext& context) { return hidden_->stub->Set(&context, message, &reply); });
}

std::string CoordinatorClient::Get(std::string_view key, const Deadline& deadline) {
  job::GetRequest message;
  message.set_key(key.data(), key.size());
  job::GetReply reply;
  hidden_->Run(
      options_, "waiting for " + std::string(key), deadline, false,
      [&](grpc::ClientContext& context) { return hidden_->stub->Get(&context, message, &reply); });
  return reply.value();
}

BeatOrder CoordinatorClient::SendBeat(const Beat& beat, const Deadline& deadline) {
  job::BeatRequest message;
  ToMessage(hidden_->ticket, message.mutable_member());
  ToMessage(beat, &message);
  job::BeatReply reply;
  hidden_->Run(options_, "heartbeat", deadline, false, [&](grpc::ClientContext& context) {
    return hidden_->stub->Beat(&context, message, &reply);
  });
  return FromMessage(reply);
}

void CoordinatorClient::HandIn(const std::string& report) {
  job::HandInRequest message;
  ToMessage(hidden_->ticket, message.mutable_member());
  message.set_content(report);
  job::Empty reply;
  hidden_->Run(options_, "handing in the report", CallDeadline(), false,
               [&](grpc::ClientContext& context) {
                 return hidden_->stub->HandIn(&context, message, &reply);
               });
}

void CoordinatorClient::HandInTrace(const TracePiece& piece, const Deadline& deadline) {
  job::TracePiece message;
  ToMessage(hidden_->ticket, message.mutable_member());
  ToMessage(piece, &message);
  job::Empty reply;
  hidden_->Run(options_, "handing in the trace", deadline, false,
               [&](grpc::ClientContext& context) {
                 return hidden_->stub->HandInTrace(&context, message, &reply);
               });
}

ClockReading CoordinatorClient::ReadClock() {
  std::vector<ClockExchange> exchanges;
  const Deadline deadline = CallDeadline();
  while (exchanges.size() < kClockExchanges) {
    job::ClockReply reply;
    ClockExchange exchange;
    exchange.asked = SteadyNanoseconds();
    hidden_->Run(options_, "reading the clock", deadline, false, [&](grpc::ClientContext& context) {
      return hidden_->stub->Clock(&context, job::Empty(), &reply);
    });
    exchange.answered = SteadyNanoseconds();
    exchange.answer = reply.nanoseconds();
    exchanges.push_back(exchange);
  }
  return BestReading(exchanges);
}

void CoordinatorClient::Fail(FailureKind kind, const std::string& message) {
  job::FailRequest request;
  ToMessage(hidden_->ticket, request.mutable_member());
  request.set_kind(ToMessage(kind));
  request.set_message(message.substr(0, kMaxMessageTextBytes));
  job::Empty reply;
  hidden_->Run(
      options_, "reporting a failure", CallDeadline(), false,
      [&](grpc::ClientContext& context) { return hidden_->stub->Fail(&context, request, &reply); });
}

void CoordinatorClient::EndOfChild(FailureKind kind, int code, const std::string& message) {
  job::FailRequest request;
  ToMessage(hidden_->ticket, request.mutable_member());
  request.set_kind(ToMessage(kind));
  request.set_message(message);
  request.set_exit_code(code);
  job::Empty reply;
  hidden_->Run(options_, "reporting the end of its worker", CallDeadline(), false,
               [&](grpc::ClientContext& context) {
                 return hidden_->stub->EndOfChild(&context, request, &reply);
               });
}

void CoordinatorClient::Leave() {
  job::LeaveRequest message;
  ToMessage(hidden_->ticket, message.mutable_member());
  job::Empty reply;
  hidden_->Run(options_, "leaving", CallDeadline(), false, [&](grpc::ClientContext& context) {
    return hidden_->stub->Leave(&context, message, &reply);
  });
}

}  // namespace ringside

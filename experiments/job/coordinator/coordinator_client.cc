#include "ringside/experiments/job/coordinator/coordinator_client.h"

#include <grpcpp/grpcpp.h>
#include <poll.h>

#include <cerrno>
#include <limits>

#include "ringside/common/base/dilated_clock.h"
#include "ringside/common/base/errors.h"
#include "ringside/common/base/file_descriptor.h"
#include "ringside/common/security/handshake_mac.h"
#include "ringside/common/security/tls_files.h"
#include "ringside/common/sockets/tcp_socket.h"
#include "ringside/experiments/job/coordinator/coordinator.grpc.pb.h"
#include "ringside/experiments/job/coordinator/coordinator_messages.h"
#include "ringside/experiments/job/coordinator/grpc_lifetime.h"
#include "ringside/experiments/text/printable.h"
#include "ringside/paramserver/transports/tls/tls_credentials.h"
#include "ringside/paramserver/transports/tls/tls_probe.h"

namespace ringside {
namespace {

constexpr int kClockExchanges = 16;
// The time of one attempt to connect. On a busy machine the answer takes long; but where threads or
// memory are scarce, an attempt may get none, and the next one succeeds.
constexpr int kConnectMs = 1'000;
constexpr int kTlsConnectMs = 5'000;
constexpr int kProbeMs = 100;
// gRPC's questions, one in 25 days. The program of a suspended coordinator answers none.
constexpr int kHardlyEverMs = std::numeric_limits<int>::max() - 1;
// The kernel of a suspended coordinator still acknowledges beats. Without its host, TCP alone would
// go on for a quarter of an hour.
constexpr std::chrono::milliseconds kAcknowledgeWithin{10'000};
constexpr std::size_t kMaxMessageTextBytes = 64 << 10;

// The clock is monotonic, so changing the wall clock ends no call.
gpr_timespec At(const Deadline& deadline) {
  return gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                      gpr_time_from_millis(deadline.remaining().count(), GPR_TIMESPAN));
}

/// A text without its end if it is too long. A message with invalid UTF-8 would be refused as a
/// whole.
std::string MessageText(std::string_view text) {
  return ValidUtf8(text.substr(0, kMaxMessageTextBytes));
}

std::string Reason(const grpc::Status& status) {
  if (status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED) return "no answer in time";
  return status.error_message();
}

/// Sends the one request of a call and waits for its end.
template <typename Request>
grpc::Status SendOne(const std::unique_ptr<grpc::ClientWriter<Request>>& call,
                     const Request& request) {
  // If this fails, the status says why.
  static_cast<void>(call->Write(request, grpc::WriteOptions().set_last_message()));
  return call->Finish();
}

}  // namespace

struct CoordinatorClient::Impl {
  std::unique_ptr<job::CoordinatorService::Stub> stub;
  JobState::MemberHandle ticket;

  /// Runs `call`, which calls one method of the stub with the context that it gets.
  template <typename Call>
  void Run(const Options& options, const std::string& operation, const Deadline& deadline,
           bool wait_for_ready, const Call& call) const {
    Check(options, operation, Status(options, deadline, wait_for_ready, call));
  }

  /// As `Run`, for a call that changes nothing when it comes twice. A connection that broke may
  /// have lost the call or only its answer; the call is made again once there is another
  /// connection.
  template <typename Call>
  void RunAgain(const Options& options, const std::string& operation, const Call& call) const {
    grpc::Status status = Status(options, Deadline::After(options.timeout), false, call);
    const Deadline deadline = Deadline::After(options.reconnect_time);
    while (status.error_code() == grpc::StatusCode::UNAVAILABLE && !deadline.expired()) {
      status = Status(options, deadline, true, call);
    }
    Check(options, operation, status);
  }

  template <typename Call>
  grpc::Status Status(const Options& options, const Deadline& deadline, bool wait_for_ready,
                      const Call& call) const {
    grpc::ClientContext context;
    context.AddMetadata(kTokenMetadata, options.token);
    context.set_deadline(At(deadline));
    context.set_wait_for_ready(wait_for_ready);
    return call(context);
  }

  static void Check(const Options& options, const std::string& operation,
                    const grpc::Status& status) {
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
    : options_(options), impl_(std::make_unique<Impl>()) {
  KeepGrpcInitialized();
  grpc::ChannelArguments arguments;
  // Uses no proxy, because none is inside a job. Clients of one process share no connection.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 50);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, UsesTls() ? kTlsConnectMs : kConnectMs);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 500);
  // With questions, gRPC also makes their time limit TCP's own (TCP_USER_TIMEOUT).
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kHardlyEverMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS,
                   static_cast<int>(DilatedClock::ToMachine(kAcknowledgeWithin).count()));
  impl_->stub = job::CoordinatorService::NewStub(
      grpc::CreateCustomChannel(options_.target,
                                UsesTls() ? MakeTlsChannelCredentials(TlsFiles(options_.tls))
                                          : grpc::InsecureChannelCredentials(),
                                arguments));
}

CoordinatorClient::~CoordinatorClient() = default;

bool CoordinatorClient::UsesTls() const {
  return !options_.tls.empty() && !options_.target.starts_with("unix:");
}

void CoordinatorClient::CheckPeer(const Deadline& deadline) const {
  if (!UsesTls()) return;
  CheckTlsPeer("coordinator " + options_.target, options_.target, TlsFiles(options_.tls), deadline);
}

bool CoordinatorClient::HasEnded() const {
  int error = 0;
  const FileDescriptor socket = BeginConnectTcp(options_.target, error);
  if (error == 0) {
    pollfd entry{.fd = socket.get(), .events = POLLOUT, .revents = 0};
    // If it fails, or takes too long, nobody has refused.
    if (poll(&entry, 1, kProbeMs) > 0) error = ConnectErrorOf(socket.get());
  }
  return error == ECONNREFUSED;
}

std::string CoordinatorClient::AskFor(std::string_view key, const Deadline& deadline) {
  CheckPeer(deadline);
  return Read(key, deadline, true);
}

Member CoordinatorClient::Join(const JobState::JoinRequest& request, const Deadline& deadline) {
  CheckPeer(deadline);
  job::JoinRequest message;
  message.set_protocol(request.protocol);
  message.set_role(ToMessage(request.who.role));
  message.set_index(request.who.index);
  message.set_pid(request.pid);
  message.set_host(request.host);
  message.set_spec_hash(request.spec_hash);
  job::JoinReply reply;
  impl_->Run(options_, "joining the job", deadline, true, [&](grpc::ClientContext& context) {
    return SendOne(impl_->stub->Join(&context, &reply), message);
  });
  impl_->ticket = FromMessage(reply.member());
  members_token_ = DeriveToken(options_.token, reply.nonce());
  return impl_->ticket.who;
}

void CoordinatorClient::Set(std::string_view key, std::string_view value) {
  job::SetRequest message;
  message.set_key(key.data(), key.size());
  message.set_value(value.data(), value.size());
  job::Empty reply;
  impl_->Run(options_, "setting " + std::string(key), CallDeadline(), false,
             [&](grpc::ClientContext& context) {
               return SendOne(impl_->stub->Set(&context, &reply), message);
             });
}

std::string CoordinatorClient::Get(std::string_view key, const Deadline& deadline) {
  return Read(key, deadline, false);
}

void CoordinatorClient::Forget(std::string_view key) {
  job::ForgetRequest message;
  message.set_key(key.data(), key.size());
  job::Empty reply;
  impl_->Run(options_, "forgetting " + std::string(key), CallDeadline(), false,
             [&](grpc::ClientContext& context) {
               return SendOne(impl_->stub->Forget(&context, &reply), message);
             });
}

std::string CoordinatorClient::Read(std::string_view key, const Deadline& deadline,
                                    bool wait_for_ready) {
  job::GetRequest message;
  message.set_key(key.data(), key.size());
  job::GetReply reply;
  impl_->Run(options_, "waiting for " + std::string(key), deadline, wait_for_ready,
             [&](grpc::ClientContext& context) {
               return SendOne(impl_->stub->Get(&context, &reply), message);
             });
  return reply.value();
}

std::optional<HeartbeatCommand> CoordinatorClient::SendHeartbeat(const Beat& beat,
                                                                 const Deadline& deadline) {
  job::BeatRequest message;
  ToMessage(impl_->ticket, message.mutable_member());
  ToMessage(beat, &message);
  job::BeatReply reply;
  const grpc::Status status =
      impl_->Status(options_, deadline, false, [&](grpc::ClientContext& context) {
        return SendOne(impl_->stub->Beat(&context, &reply), message);
      });
  if (status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED) return std::nullopt;
  Impl::Check(options_, "heartbeat", status);
  return FromMessage(reply);
}

void CoordinatorClient::SubmitReport(const std::string& report) {
  job::HandInRequest message;
  ToMessage(impl_->ticket, message.mutable_member());
  message.set_content(report);
  job::Empty reply;
  impl_->RunAgain(options_, "handing in the report", [&](grpc::ClientContext& context) {
    return SendOne(impl_->stub->SubmitReport(&context, &reply), message);
  });
}

void CoordinatorClient::SubmitTrace(const TracePiece& piece, const Deadline& deadline) {
  job::TracePiece message;
  ToMessage(impl_->ticket, message.mutable_member());
  ToMessage(piece, &message);
  job::Empty reply;
  impl_->Run(options_, "handing in the trace", deadline, false, [&](grpc::ClientContext& context) {
    return SendOne(impl_->stub->SubmitTrace(&context, &reply), message);
  });
}

ClockReading CoordinatorClient::ReadClock() {
  std::vector<ClockExchange> exchanges;
  const Deadline deadline = CallDeadline();
  while (exchanges.size() < kClockExchanges) {
    job::ClockReply reply;
    ClockExchange exchange;
    exchange.asked = SteadyNanoseconds();
    impl_->Run(options_, "reading the clock", deadline, false, [&](grpc::ClientContext& context) {
      return SendOne(impl_->stub->Clock(&context, &reply), job::Empty());
    });
    exchange.answered = SteadyNanoseconds();
    exchange.answer = reply.nanoseconds();
    exchanges.push_back(exchange);
  }
  return BestReading(exchanges);
}

void CoordinatorClient::Fail(const FailureReason& reason) {
  job::FailRequest request;
  ToMessage(impl_->ticket, request.mutable_member());
  request.set_kind(ToMessage(reason.kind));
  request.set_message(MessageText(reason.message));
  request.set_accused(MessageText(reason.accused));
  job::Empty reply;
  impl_->Run(options_, "reporting a failure", Deadline::After(options_.reconnect_time), true,
             [&](grpc::ClientContext& context) {
               return SendOne(impl_->stub->Fail(&context, &reply), request);
             });
}

void CoordinatorClient::ReportChildExit(const ChildExit& exit, const Deadline& deadline) {
  job::FailRequest request;
  ToMessage(impl_->ticket, request.mutable_member());
  request.set_kind(ToMessage(exit.kind));
  request.set_message(MessageText(exit.message));
  request.set_exit_code(exit.code);
  request.set_last_line(MessageText(exit.last_line));
  job::Empty reply;
  impl_->Run(options_, "reporting the end of its worker", deadline, false,
             [&](grpc::ClientContext& context) {
               return SendOne(impl_->stub->ReportChildExit(&context, &reply), request);
             });
}

void CoordinatorClient::Leave() {
  job::LeaveRequest message;
  ToMessage(impl_->ticket, message.mutable_member());
  job::Empty reply;
  impl_->RunAgain(options_, "leaving", [&](grpc::ClientContext& context) {
    return SendOne(impl_->stub->Leave(&context, &reply), message);
  });
}

}  // namespace ringside

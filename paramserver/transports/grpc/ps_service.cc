#include "ringside/paramserver/transports/grpc/ps_service.h"

#include <grpcpp/impl/codegen/proto_utils.h>

#include <atomic>
#include <cstddef>
#include <exception>
#include <memory>
#include <utility>

#include "ringside/common/base/tsan_handoff.h"
#include "ringside/common/security/secrets.h"
#include "ringside/paramserver/transports/grpc/grpc_payload.h"
#include "ringside/paramserver/wire/plan_message.h"

namespace ringside {
namespace {

grpc::StatusCode StatusCodeOf(RefusalCode code) {
  switch (code) {
    case RefusalCode::kInvalid:
      return grpc::StatusCode::INVALID_ARGUMENT;
    case RefusalCode::kOutOfRange:
      return grpc::StatusCode::OUT_OF_RANGE;
    case RefusalCode::kDuplicate:
      return grpc::StatusCode::ALREADY_EXISTS;
    case RefusalCode::kPrecondition:
      return grpc::StatusCode::FAILED_PRECONDITION;
    case RefusalCode::kLate:
      return grpc::StatusCode::DEADLINE_EXCEEDED;
    case RefusalCode::kDropped:
      return kDroppedStatus;
    case RefusalCode::kDiverged:
      return kDivergedStatus;
    case RefusalCode::kAborted:
      return grpc::StatusCode::ABORTED;
  }
  return grpc::StatusCode::UNKNOWN;
}

/// The details name the member to blame, so that a worker can report it.
grpc::Status ToStatus(const Refusal& refusal) {
  return {StatusCodeOf(refusal.code), refusal.message, refusal.culprit};
}

/// Ends a call that will not be served.
class RefusedCall : public grpc::ServerGenericBidiReactor {
 public:
  explicit RefusedCall(const grpc::Status& status) {
    handoff_.Pass();
    Finish(status);
  }
  void OnDone() override {
    handoff_.Take();
    delete this;
  }

 private:
  TsanHandoff handoff_;
};

bool Served(const std::string& method) {
  return method == kStartMethod || method == kLoadMethod || method == kPushPullMethod ||
         method == kPullMethod || method == kReadStateMethod || method == kRetireMethod;
}

}  // namespace

/// One call, from its first byte to its last. It reads one request. Then it answers immediately, or
/// leaves the request with the table as a waiting push. gRPC ends the call through OnDone, which
/// comes only after the answer. This object may answer until `Push` has taken the reply; from then
/// on the table may. So the object is still valid for either of them.
class PsService::Call : public grpc::ServerGenericBidiReactor, public PendingReply {
 public:
  /// `method` is a served method and must live until OnDone.
  Call(PsService& service, const std::string& method)
      : service_(service), table_(service.table_), method_(method) {
    handoff_.Pass();
    StartRead(&message_);
  }

  void OnReadDone(bool ok) override {
    handoff_.Take();
    if (!ok) return End({grpc::StatusCode::INVALID_ARGUMENT, "a call without a request"});
    try {
      Serve();
    } catch (const RefusedError& error) {
      Refuse(error.refusal());
    } catch (const std::exception& error) {
      End({grpc::StatusCode::INTERNAL, error.what()});
    }
  }

  void OnCancel() override {
    handoff_.Take();
    const bool waits = pushing_.load(std::memory_order_acquire);
    if (waits && table_.OnCallCancelled(request_, *this)) End(grpc::Status::CANCELLED);
    handoff_.Pass();  // gRPC calls OnDone only after this function has returned
  }

  void OnDone() override {
    handoff_.Take();
    service_.open_calls_.fetch_sub(1, std::memory_order_relaxed);
    service_.calls_.Destroy(*this);
  }

  void Send(ParameterReply answer) override { Reply(std::move(answer)); }

  void Refuse(const Refusal& refusal) override { End(ToStatus(refusal)); }

 private:
  void Serve();
  void ServeStart();
  void ServePush(PayloadPtr gradient);
  PayloadPtr TakeFrame();
  void Reply(ParameterReply answer);
  void EndWithMessage() {
    handoff_.Pass();
    StartWriteAndFinish(&message_, {}, grpc::Status::OK);
  }
  void End(const grpc::Status& status) {
    handoff_.Pass();
    Finish(status);
  }

  PsService& service_;
  ShardTable& table_;
  const std::string& method_;
  grpc::ByteBuffer message_;  // the request, then the reply
  FrameHeader request_;
  std::atomic<bool> pushing_{false};  // OnCancel may read request_
  TsanHandoff handoff_;
};

void PsService::Call::Serve() {
  if (method_ == kStartMethod) return ServeStart();
  PayloadPtr payload = TakeFrame();
  switch (request_.kind) {
    case FrameKind::kPushPull:
      return ServePush(std::move(payload));
    case FrameKind::kLoad:
      table_.Load(request_, *payload);
      return Reply({ParameterRef(0)});
    case FrameKind::kPull:
      return Send(table_.Pull(request_));
    case FrameKind::kReadState:
      return Reply({table_.ReadState(request_)});
    case FrameKind::kRetire:
      table_.Retire(request_);
      return Reply({ParameterRef(0)});
    case FrameKind::kStart:
      break;  // has a method of its own, without a frame
  }
}

void PsService::Call::ServeStart() {
  StartRequest request;
  if (!grpc::GenericDeserialize<grpc::ProtoBufferReader, StartRequest>(&message_, &request).ok()) {
    throw RefusedError(RefusalCode::kInvalid, "not a StartRequest");
  }
  table_.Start(ToPlanInfo(request));
  message_.Clear();  // an empty StartReply has no bytes
  const grpc::Slice nothing;
  message_ = grpc::ByteBuffer(&nothing, 1);
  EndWithMessage();
}

// When the table has taken the reply, any thread may answer it and so end this object. So nothing
// here may use the object after the call of Push.
void PsService::Call::ServePush(PayloadPtr gradient) {
  pushing_.store(true, std::memory_order_release);
  table_.Push(request_, std::move(gradient), *this);
}

PayloadPtr PsService::Call::TakeFrame() {
  auto payload = service_.payloads_->Take();
  const FrameError error = payload->Assign(message_, request_);
  message_.Clear();
  if (error != FrameError::kNone) throw RefusedError(RefusalCode::kInvalid, FrameErrorText(error));
  if (method_ != MethodOf(request_.kind)) {
    throw RefusedError(RefusalCode::kInvalid, "a frame of another kind than the method");
  }
  return payload;
}

void PsService::Call::Reply(ParameterReply answer) {
  FrameHeader header = AnswerTo(request_);
  header.version = answer.version;
  header.staleness = answer.staleness;
  header.dropped = answer.dropped;
  header.payload_bytes = answer.parameters.values().size_bytes();
  message_ = MakeFrame(header, std::move(answer.parameters));
  EndWithMessage();
}

PsService::PsService(ShardTable& table, const std::string& token) : table_(table), token_(token) {}

PsService::~PsService() = default;

grpc::ServerGenericBidiReactor* PsService::CreateReactor(
    grpc::GenericCallbackServerContext* context) {
  if (!Authentic(*context)) {
    return new RefusedCall({grpc::StatusCode::UNAUTHENTICATED, "wrong or missing token"});
  }
  if (!Served(context->method())) {
    return new RefusedCall({grpc::StatusCode::UNIMPLEMENTED, "no such method"});
  }
  if (open_calls_.fetch_add(1, std::memory_order_relaxed) >= table_.most_calls()) {
    open_calls_.fetch_sub(1, std::memory_order_relaxed);
    return new RefusedCall(
        {grpc::StatusCode::RESOURCE_EXHAUSTED, "more calls are under way than workers can have"});
  }
  return &calls_.Make(*this, context->method());
}

bool PsService::Authentic(const grpc::GenericCallbackServerContext& context) const {
  const auto found = context.client_metadata().find(kTokenKey);
  if (found == context.client_metadata().end()) return SecretsEqual({}, token_);
  return SecretsEqual({found->second.data(), found->second.size()}, token_);
}

}  // namespace ringside

#include "ringside/paramserver/transports/tcp/tcp_connection.h"

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include "ringside/common/base/errors.h"
#include "ringside/paramserver/wire/plan_message.h"
#include "ringside/paramserver/wire/refusal_message.h"

namespace ringside {
namespace {

constexpr std::uint64_t kMaxStart = 64UL << 20U;  // bytes of a plan
constexpr std::size_t kMaxMessage = 16UL << 10U;  // bytes of a refusal's text
constexpr std::size_t kReplies = 64;              // that wait before more room is allocated

std::string WorkerName(std::uint32_t worker) { return "worker " + std::to_string(worker); }

}  // namespace

/// A request, from its header until the kernel has its answer.
class TcpConnection::Reply : public PendingReply, public OutgoingFrame {
 public:
  Reply(TcpConnection& connection, const FrameHeader& request)
      : connection_(connection), request_(request) {}

  const FrameHeader& request() const { return request_; }

  void Send(ParameterReply answer) override {
    parameters_ = std::move(answer.parameters);
    const auto payload = std::as_bytes(parameters_.values());
    FrameHeader header = AnswerTo(request_);
    header.version = answer.version;
    header.staleness = answer.staleness;
    header.dropped = answer.dropped;
    header.payload_bytes = payload.size();
    connection_.Answer(*this, header, payload);
  }

  void Refuse(const Refusal& refusal) override {
    refusal_ = ToMessage(refusal, kMaxMessage).SerializeAsString();
    FrameHeader header = AnswerTo(request_);
    header.refused = true;
    header.payload_bytes = refusal_.size();
    connection_.Answer(*this, header, std::as_bytes(std::span(refusal_)));
  }

  // The destructor drops the parameters, so the buffer is free for an update.
  void Released() override { connection_.Forget(*this); }

 private:
  TcpConnection& connection_;
  const FrameHeader request_;
  ParameterRef parameters_;
  std::string refusal_;
};

TcpConnection::TcpConnection(FileDescriptor socket, std::uint32_t worker, TcpShared& shared)
    : shared_(shared), worker_(worker), stream_(std::move(socket)) {
  waiting_.reserve(kReplies);
  reader_ = std::jthread([this] { Run(); });
}

// Another thread may be answering a push just now.
TcpConnection::~TcpConnection() {
  stream_.End();
  reader_ = {};  // joins
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return replies_ == 0; });
}

void TcpConnection::Finish(const Deadline& deadline) {
  stream_.Drain(deadline);
  stream_.FinishSending();
}

void TcpConnection::AwaitEnd(const Deadline& deadline) {
  std::unique_lock lock(mutex_);
  changed_.wait_until(lock, deadline.at(), [this] { return ended_; });
}

bool TcpConnection::ended() const {
  const std::lock_guard lock(mutex_);
  return ended_;
}

void TcpConnection::Run() {
  FrameHeader header;
  bool open = true;
  while (open) {
    open = stream_.ReceiveHeader(header) == FrameStream::Header::kDone && Serve(header);
  }
  stream_.End();
  Abandon();
  const std::lock_guard lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

/// Returns false when the connection cannot be used any more.
bool TcpConnection::Serve(const FrameHeader& header) {
  Reply& reply = MakeReply(header);
  std::uint64_t unread = header.payload_bytes;
  try {
    Check(header);
    ReceivedPayloads::Taken payload = MemoryFor(header);
    if (!stream_.Receive(payload->Resize(header.payload_bytes))) {
      StopWaiting(reply);
      Forget(reply);
      return false;
    }
    unread = 0;
    Handle(header, std::move(payload), reply);
  } catch (const RefusedError& error) {
    reply.Refuse(error.refusal());
  } catch (const std::exception& error) {
    reply.Refuse({RefusalCode::kAborted, error.what(), {}});
  }
  return stream_.Skip(unread);
}

// Before any memory is taken for the payload.
void TcpConnection::Check(const FrameHeader& header) const {
  if (header.worker != worker_) {
    throw RefusedError(RefusalCode::kInvalid, "a request of " + WorkerName(header.worker) +
                                                  " on a connection of " + WorkerName(worker_));
  }
  if (header.kind != FrameKind::kStart) return shared_.table.CheckLength(header);
  if (header.payload_bytes > kMaxStart) {
    throw RefusedError(RefusalCode::kInvalid,
                       "a StartRequest of " + std::to_string(header.payload_bytes) + " bytes");
  }
}

ReceivedPayloads::Taken TcpConnection::MemoryFor(const FrameHeader& header) const {
  // A plan comes once, so its memory is not kept.
  if (header.kind == FrameKind::kStart) return std::make_unique<ReceivedPayload>();
  return shared_.payloads.Take(header.payload_bytes);
}

// Once the table has a push, any thread may answer it and so end its reply. So nothing here may use
// the reply after Push.
void TcpConnection::Handle(const FrameHeader& header, PayloadPtr payload, Reply& reply) {
  ShardTable& table = shared_.table;
  switch (header.kind) {
    case FrameKind::kPushPull:
      return table.Push(header, std::move(payload), reply);
    case FrameKind::kStart:
      HandleStart(*payload);
      return reply.Send({.parameters = ParameterRef(0)});
    case FrameKind::kLoad:
      table.Load(header, *payload);
      return reply.Send({.parameters = ParameterRef(0)});
    case FrameKind::kPull:
      return reply.Send(table.Pull(header));
    case FrameKind::kReadState:
      return reply.Send({.parameters = table.ReadState(header)});
    case FrameKind::kRetire:
      table.Retire(header);
      return reply.Send({.parameters = ParameterRef(0)});
  }
}

void TcpConnection::HandleStart(const Payload& payload) const {
  const Piece bytes = payload.pieces().front();
  StartRequest start;
  if (!start.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) {
    throw RefusedError(RefusalCode::kInvalid, "not a StartRequest");
  }
  if (start.worker() != worker_) {
    throw RefusedError(RefusalCode::kInvalid, "a plan of " + WorkerName(start.worker()) +
                                                  " on a connection of " + WorkerName(worker_));
  }
  shared_.table.Start(ToPlanInfo(start));
}

TcpConnection::Reply& TcpConnection::MakeReply(const FrameHeader& header) {
  Reply& reply = reply_pool_.Make(*this, header);
  const std::size_t most = shared_.table.most_calls_of_a_worker();
  std::unique_lock lock(mutex_);
  // Pushes that wait for other workers are fewer. So the others are answers, which this worker lets
  // lie, or the connection has ended.
  changed_.wait(lock, [&] { return replies_ < most; });
  waiting_.push_back(&reply);
  ++replies_;
  return reply;
}

void TcpConnection::Answer(Reply& reply, const FrameHeader& header,
                           std::span<const std::byte> payload) {
  const bool in_order = shared_.context.options.order == SendOrder::kFifo;
  StopWaiting(reply);
  stream_.Send(reply, header, payload, in_order ? 0 : header.bucket);
}

void TcpConnection::StopWaiting(Reply& reply) {
  const std::lock_guard lock(mutex_);
  std::erase(waiting_, &reply);
}

// The reply's memory is given back before the last count: the connection may be gone after it.
void TcpConnection::Forget(Reply& reply) {
  reply_pool_.Destroy(reply);
  const std::lock_guard lock(mutex_);
  --replies_;
  changed_.notify_all();
}

// A reply that the table does not have is being answered now, by another thread.
void TcpConnection::Abandon() {
  std::vector<Reply*> withdrawn;
  {
    const std::lock_guard lock(mutex_);
    for (Reply* reply : waiting_) {
      if (shared_.table.OnCallCancelled(reply->request(), *reply)) withdrawn.push_back(reply);
    }
    for (Reply* reply : withdrawn) std::erase(waiting_, reply);
  }
  for (Reply* reply : withdrawn) Forget(*reply);
}

}  // namespace ringside

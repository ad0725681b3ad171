// Calls of the parameter servers' gRPC service: the plan of a start, frames in the pieces in which
// gRPC received them, and what a server checks before it changes anything. The dispatch is that of
// paramserver/transports/grpc/ps_service.cc, without a network.
#include <grpcpp/impl/codegen/proto_utils.h>
#include <grpcpp/support/byte_buffer.h>
#include <grpcpp/support/slice.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ringside/paramserver/transports/grpc/grpc_payload.h"
#include "ringside/paramserver/wire/plan_message.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/server_parts.h"

namespace ringside {
namespace {

constexpr std::array kCodecs{"fp32", "fp16", "topk:0.5"};
/// A server takes a plan of any size that fits into memory. Larger ones than this only take time.
constexpr std::uint64_t kMostElements = std::uint64_t{1} << 14;

bool IsLarge(const PlanInfo& plan) {
  std::uint64_t elements = 0;
  for (const PlanInfo::ServedSlice& slice : plan.slices) {
    if (slice.elements > FrameHeader::kMaxPayload / sizeof(float)) return false;  // refused
    elements += slice.elements;
  }
  return elements > kMostElements;
}

/// A message in up to three pieces; the first two are short.
grpc::ByteBuffer MessageOf(std::string_view bytes, std::size_t first, std::size_t second) {
  std::vector<grpc::Slice> slices;
  for (const std::size_t length : {first, second, bytes.size()}) {
    const std::string_view piece = bytes.substr(0, length);
    slices.emplace_back(piece.data(), piece.size());
    bytes.remove_prefix(piece.size());
  }
  return {slices.data(), slices.size()};
}

class Service {
 public:
  Service(std::size_t consistency, std::string_view codec) : server_(consistency, codec) {}

  void Serve(bool start, grpc::ByteBuffer message) {
    start ? ServeStart(message) : ServeFrame(message);
  }

  /// Fails the job, as the end of a server does. Then every push has had exactly one answer.
  void Finish() {
    server_.table().Fail({RefusalCode::kAborted, "the server is stopping", {}});
    for (const CountedReply& reply : replies_) {
      if (reply.answers() != 1) throw InternalError("a push has no answer, or two");
    }
  }

 private:
  void ServeStart(grpc::ByteBuffer& message) {
    StartRequest request;
    if (!grpc::GenericDeserialize<grpc::ProtoBufferReader, StartRequest>(&message, &request).ok()) {
      return;
    }
    const PlanInfo plan = ToPlanInfo(request);
    if (!IsLarge(plan)) server_.table().Start(plan);
  }

  void ServeFrame(const grpc::ByteBuffer& message) {
    auto payload = std::make_unique<GrpcPayload>();
    FrameHeader header;
    if (payload->Assign(message, header) != FrameError::kNone) return;
    ShardTable& table = server_.table();
    switch (header.kind) {
      case FrameKind::kPushPull:
        return Push(header, std::move(payload));
      case FrameKind::kLoad:
        return table.Load(header, *payload);
      case FrameKind::kPull:
        table.Pull(header);
        return;
      case FrameKind::kReadState:
        table.ReadState(header);
        return;
      case FrameKind::kRetire:
        return table.Retire(header);
      case FrameKind::kStart:
        return;
    }
  }

  void Push(const FrameHeader& header, std::unique_ptr<GrpcPayload> gradient) {
    replies_.emplace_back();
    try {
      server_.table().Push(header, std::move(gradient), replies_.back());
    } catch (const RefusedError&) {
      const bool answered = replies_.back().answers() > 0;
      replies_.pop_back();
      if (answered) throw InternalError("a push was answered and refused");
    }
  }

  std::deque<CountedReply> replies_;  // the server borrows them
  ServerParts server_;
};

std::string Call(bool start, const std::string& message) {
  return std::string{start ? '\1' : '\0', '\7', '\3'} + Chunk(message);
}

std::string StartOf(std::uint32_t worker) {
  return Call(true, ToRequest(ServerParts::PlanOf(worker)).SerializeAsString());
}

}  // namespace

// Which consistency and codec; then calls: start or not, two lengths of pieces, the message.
std::vector<std::string> FuzzSeeds() {
  std::string session = StartOf(0) + StartOf(1);
  session += Call(false, ServerParts::Frame({.kind = FrameKind::kLoad}, true));
  session += Call(false, ServerParts::Frame({.kind = FrameKind::kLoad, .part = 1}, true));
  for (const std::uint32_t worker : {0U, 1U}) {
    for (const std::uint8_t repeats : {0, 2, 1}) {
      session += Call(false, ServerParts::Frame({.worker = worker, .repeats = repeats}, true));
    }
    session += Call(false, ServerParts::Frame({.kind = FrameKind::kPull, .worker = worker}, false));
  }
  session += Call(false, ServerParts::Frame({.kind = FrameKind::kReadState, .part = 1}, false));
  session += Call(false, ServerParts::Frame({.kind = FrameKind::kRetire, .step = 1}, false));
  PlanInfo last_step = ServerParts::PlanOf(0);
  last_step.step = std::numeric_limits<std::int64_t>::max();
  const std::string asynchronous{'\4', '\0'};
  std::vector<std::string> seeds{
      asynchronous + StartOf(0),
      asynchronous + Call(true, ToRequest(last_step).SerializeAsString())};
  for (char consistency = 0; consistency < 5; ++consistency) {
    for (char codec = 0; codec < 3; ++codec) {
      seeds.push_back(std::string{consistency, codec} + session);
    }
  }
  return seeds;
}

}  // namespace ringside

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ringside;
  KeepGrpcRunning();
  FuzzInput input(data, size);
  const std::size_t consistency = input.Byte();
  Service service(consistency, kCodecs[input.Byte() % kCodecs.size()]);
  while (!input.empty()) {
    const bool start = input.Byte() % 2 == 1;
    const std::size_t first = input.Byte();
    const std::size_t second = input.Byte();
    const std::string message = input.NextChunk();
    DropRefusals([&] { service.Serve(start, MessageOf(message, first, second)); });
  }
  service.Finish();
  return 0;
}

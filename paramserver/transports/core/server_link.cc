#include "ringside/paramserver/transports/core/server_link.h"

namespace ringside {
namespace {

const char* OperationName(FrameKind kind) {
  switch (kind) {
    case FrameKind::kPushPull:
      return "push and pull";
    case FrameKind::kLoad:
      return "load";
    case FrameKind::kPull:
      return "pull";
    case FrameKind::kReadState:
      return "read of the optimizer state";
    case FrameKind::kStart:
      return "start";
    case FrameKind::kRetire:
      return "retirement from the pushes";
  }
  return "call";
}

}  // namespace

std::string LostInVain() {
  return "and " + std::to_string(kReconnectsInVain) +
         " new connections in turn were lost before an answer came";
}

std::string Describe(const FrameHeader& header) {
  if (header.kind == FrameKind::kStart) return OperationName(header.kind);
  return std::string(OperationName(header.kind)) + " of bucket " + std::to_string(header.bucket) +
         ", step " + std::to_string(header.step);
}

CommError RefusedByServer(const std::string& server, const std::string& operation,
                          const Refusal& refusal) {
  const std::string& culprit = refusal.culprit;
  const bool blames_another = !culprit.empty() && !server.starts_with(culprit + " ");
  CommError error(blames_another ? culprit : server, operation,
                  blames_another ? server + " says: " + refusal.message : refusal.message);
  if (refusal.code == RefusalCode::kDiverged) error.set_divergence(refusal.message);
  return error;
}

}  // namespace ringside

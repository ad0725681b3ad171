#include "experiments/job/member.h"

#include <algorithm>

namespace ringside {

std::string MemberName(const Member& member) {
  const char* role = member.role == Role::kWorker   ? "worker "
                     : member.role == Role::kServer ? "server "
                                                    : "agent of rank ";
  return role + std::to_string(member.index);
}

const char* FailureKindName(FailureKind kind) {
  switch (kind) {
    case FailureKind::kSignal:
      return "signal";
    case FailureKind::kEarlyExit:
      return "early exit";
    case FailureKind::kLost:
      return "lost";
    case FailureKind::kDiverged:
      return "diverged";
    case FailureKind::kData:
      return "data";
    case FailureKind::kConfig:
      return "config";
    case FailureKind::kMissingBackend:
      return "missing backend";
    case FailureKind::kInternal:
      return "internal";
    case FailureKind::kComm:
      return "comm";
  }
  return "unknown";
}

std::string Failure::Text() const {
  const bool process_ended = kind == FailureKind::kSignal || kind == FailureKind::kEarlyExit;
  return MemberName(who) + (process_ended || kind == FailureKind::kLost ? " " : ": ") + message;
}

const Failure& Culprit(std::span<const Failure> failures) {
  return *std::ranges::min_element(failures, {}, &Failure::kind);
}

}  // namespace ringside

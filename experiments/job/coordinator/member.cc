#include "ringside/experiments/job/coordinator/member.h"

#include <algorithm>

#include "ringside/common/core/errors.h"

namespace ringside {

Member AgentOf(const Member& child) {
  return {child.role == Role::kServer ? Role::kServerAgent : Role::kAgent, child.index};
}

Member ChildOf(const Member& agent) {
  return {agent.role == Role::kServerAgent ? Role::kServer : Role::kWorker, agent.index};
}

std::string MemberName(const Member& member) {
  const std::string index = std::to_string(member.index);
  switch (member.role) {
    case Role::kWorker:
      return "worker " + index;
    case Role::kServer:
      return "server " + index;
    case Role::kAgent:
      return "agent of rank " + index;
    case Role::kServerAgent:
      return "agent of server " + index;
  }
  return "unknown";
}

const char* FailureKindName(FailureKind kind) {
  switch (kind) {
    case FailureKind::kOutOfMemory:
      return "out of memory";
    case FailureKind::kSignal:
      return "signal";
    case FailureKind::kEarlyExit:
      return "early exit";
    case FailureKind::kLost:
      return "lost";
    case FailureKind::kDiverged:
      return "diverged";
    case FailureKind::kReplicasDiffer:
      return "replicas differ";
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
  return MemberName(who) + (kind <= FailureKind::kLost ? " " : ": ") + message;
}

const Failure& RootCause(std::span<const Failure> failures) {
  return *std::ranges::min_element(failures, {}, &Failure::kind);
}

FailureKind KindOfCurrentException(std::string& message) {
  try {
    throw;
  } catch (const DivergedError& error) {
    message = error.what();
    return FailureKind::kDiverged;
  } catch (const ReplicasDifferError& error) {
    message = error.what();
    return FailureKind::kReplicasDiffer;
  } catch (const CommError& error) {
    message = error.what();
    return FailureKind::kComm;
  } catch (const DataError& error) {
    message = error.what();
    return FailureKind::kData;
  } catch (const ConfigError& error) {
    message = error.what();
    return FailureKind::kConfig;
  } catch (const MissingBackendError& error) {
    message = error.what();
    return FailureKind::kMissingBackend;
  } catch (const std::exception& error) {
    message = error.what();
    return FailureKind::kInternal;
  }
}

}  // namespace ringside

#include "ringside/experiments/job/coordinator/member.h"

#include <algorithm>

#include "ringside/common/base/errors.h"
#include "ringside/common/base/killed_program_error.h"
#include "ringside/common/base/lack_of_resources.h"

namespace ringside {
namespace {

/// The member in the name of a peer: "server 0" of "server 0 at 127.0.0.1:4711". Empty if the peer
/// is neither a worker nor a server.
std::string MemberOf(const std::string& peer) {
  const std::string name = peer.substr(0, peer.find(" at "));
  return name.starts_with("worker ") || name.starts_with("server ") ? name : "";
}

}  // namespace

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

std::string QuoteLastLine(const std::string& line) {
  return line.empty() ? "" : "; it wrote last: " + line;
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
    case FailureKind::kProgram:
      return "program";
    case FailureKind::kData:
      return "data";
    case FailureKind::kConfig:
      return "config";
    case FailureKind::kMissingBackend:
      return "missing backend";
    case FailureKind::kResources:
      return "resources";
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

std::string Failure::Blamed() const { return accused.empty() ? MemberName(who) : accused; }

const Failure& RootCause(std::span<const Failure> failures) {
  const Failure& first = *std::ranges::min_element(failures, {}, &Failure::kind);
  if (first.kind != FailureKind::kComm) return first;
  return *std::ranges::max_element(failures, {}, [&](const Failure& failure) {
    return std::ranges::count(failures, failure.Blamed(), &Failure::Blamed);
  });
}

std::string MemberToBlame(const Failure& cause, std::span<const Failure> failures, int workers) {
  constexpr int kFewestWorkers = 3;
  const bool misses_a_server = cause.kind == FailureKind::kComm &&
                               cause.who.role == Role::kWorker &&
                               cause.accused.starts_with("server ");
  if (!misses_a_server || workers < kFewestWorkers) return cause.Blamed();
  const bool alone = std::ranges::all_of(
      failures, [&](const Failure& failure) { return failure.who == cause.who; });
  return alone ? MemberName(cause.who) : cause.Blamed();
}

FailureReason ReasonOfCurrentException() {
  try {
    throw;
  } catch (const DivergedError& error) {
    return {FailureKind::kDiverged, error.what()};
  } catch (const ReplicasDifferError& error) {
    return {FailureKind::kReplicasDiffer, error.what()};
  } catch (const ProgramError& error) {
    return {FailureKind::kProgram, error.what()};
  } catch (const CommError& error) {
    return {FailureKind::kComm, error.what(), MemberOf(error.peer())};
  } catch (const DataError& error) {
    return {FailureKind::kData, error.what()};
  } catch (const ConfigError& error) {
    return {FailureKind::kConfig, error.what()};
  } catch (const MissingBackendError& error) {
    return {FailureKind::kMissingBackend, error.what()};
  } catch (const KilledProgramError& error) {
    return {FailureKind::kSignal, error.what()};
  } catch (const std::exception& error) {
    const std::string lack = LackInCurrentException();
    if (!lack.empty()) return {FailureKind::kResources, lack};
    return {FailureKind::kInternal, error.what()};
  }
}

}  // namespace ringside

#ifndef RINGSIDE_EXPERIMENTS_JOB_EMULATED_NETWORK_H_
#define RINGSIDE_EXPERIMENTS_JOB_EMULATED_NETWORK_H_

#include <nlohmann/json.hpp>
#include <string>

#include "experiments/job/member.h"
#include "experiments/job/rank_environment.h"
#include "experiments/lab/lab.h"

namespace ringside {

/// A socket's place in the directory that is the user's alone, under a name of its own; removed at
/// destruction. Those of processes that were killed are removed when the next one is made.
class SocketFile {
 public:
  /// Throws `ConfigError` when there is no such directory, or its name is too long for a socket.
  explicit SocketFile(const Environment& environment);
  ~SocketFile();
  SocketFile(const SocketFile&) = delete;
  SocketFile& operator=(const SocketFile&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// The emulated cluster of one job: who runs in which namespace, its calibrated links, and the
/// socket over which the control plane passes the links by.
class EmulatedNetwork {
 public:
  /// Builds it and measures its links. Throws `MissingBackendError` where that cannot be,
  /// `CommError` where a link carries nothing, and what `check` throws.
  EmulatedNetwork(NetworkPlan plan, const Environment& environment, const StopCheck& check);

  /// For `Process::Options`.
  int NamespaceOf(const Member& who) const { return lab_.host(HostOf(who)).fd(); }
  const std::string& AddressOf(const Member& who) const;
  const std::string& socket_path() const { return socket_.path(); }
  /// The content of network.json.
  const nlohmann::json& record() const { return record_; }

 private:
  int HostOf(const Member& who) const;

  const Lab lab_;
  const nlohmann::json record_;
  const SocketFile socket_;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_EMULATED_NETWORK_H_

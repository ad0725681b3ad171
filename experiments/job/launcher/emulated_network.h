#ifndef RINGSIDE_EXPERIMENTS_JOB_LAUNCHER_EMULATED_NETWORK_H_
#define RINGSIDE_EXPERIMENTS_JOB_LAUNCHER_EMULATED_NETWORK_H_

#include <nlohmann/json.hpp>
#include <string>

#include "ringside/experiments/job/coordinator/member.h"
#include "ringside/experiments/lab/lab.h"
#include "ringside/experiments/system/rank_environment.h"

namespace ringside {

/// A unique path for a socket in the user's private directory. The destructor removes the file; the
/// constructor also removes files that killed processes left.
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

/// The emulated cluster of one job: the namespace of each process, the calibrated links, and the
/// socket that carries control messages outside these links.
class EmulatedNetwork {
 public:
  /// Builds the network and measures its links. Throws `MissingBackendError` when this machine
  /// cannot do that, `CommError` when a link carries nothing, and what `check` throws.
  EmulatedNetwork(NetworkPlan plan, const Environment& environment, const StopCheck& check);

  /// The member's namespace, for `Process::Options`.
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

#endif  // RINGSIDE_EXPERIMENTS_JOB_LAUNCHER_EMULATED_NETWORK_H_

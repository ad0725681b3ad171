#ifndef RINGSIDE_EXPERIMENTS_JOB_LAUNCHER_EMULATED_NETWORK_H_
#define RINGSIDE_EXPERIMENTS_JOB_LAUNCHER_EMULATED_NETWORK_H_

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "ringside/experiments/job/coordinator/member.h"
#include "ringside/experiments/lab/lab.h"
#include "ringside/experiments/system/environment/rank_environment.h"
#include "ringside/experiments/system/network/tcp_connections.h"

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

/// The emulated cluster of one job: the namespace of each process, the calibrated links, the TCP
/// connections of the job, and the socket that carries control messages outside these links. Used
/// by one thread.
class EmulatedNetwork {
 public:
  /// Builds the network, `dilation` times slower than the plan says, and measures its links. Throws
  /// `MissingBackendError` when this machine cannot do that, `CommError` when a link carries
  /// nothing, and what `check` throws.
  EmulatedNetwork(const NetworkPlan& plan, double dilation, const Environment& environment,
                  const StopCheck& check);

  /// The member's namespace, for `Process::Options`.
  int NamespaceOf(const Member& who) const { return lab_.host(HostOf(who)).fd(); }
  const std::string& AddressOf(const Member& who) const;
  const std::string& socket_path() const { return socket_.path(); }
  const Lab& lab() const { return lab_; }
  /// The content of network.json.
  const nlohmann::json& record() const { return record_; }
  /// Writes it into a bundle. Throws `DataError`.
  void WriteRecord(const std::string& bundle_dir) const;

  /// Asks the kernel for the connections between the hosts' own addresses and records the largest
  /// number of ends seen at a time. Throws `MissingBackendError` when one of them uses another
  /// congestion control than the network asks for.
  void ReadConnections();
  /// Call this often while the job runs. `stepping`: its first steps are done. It reads the
  /// connections every 100 ms until 2 s after the first of them, or the first steps, were seen.
  /// Then it reads them every 5 s.
  void WatchConnections(bool stepping);

 private:
  using Clock = std::chrono::steady_clock;

  int HostOf(const Member& who) const;
  /// Whether any connections were seen.
  bool Connected() const { return !record_.at("connections").is_null(); }

  const Lab lab_;
  nlohmann::json record_;
  std::vector<TcpConnections> connections_;  // by host
  const SocketFile socket_;
  bool stepping_ = false;
  Clock::time_point next_reading_;
  std::optional<Clock::time_point> seldom_from_;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_LAUNCHER_EMULATED_NETWORK_H_

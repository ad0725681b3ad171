#include "ringside/experiments/job/launcher/emulated_network.h"

#include <fmt/format.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/lab/calibration.h"
#include "ringside/experiments/network/dilation.h"
#include "ringside/experiments/system/files/files.h"
#include "ringside/experiments/system/files/private_file.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kReadingInterval{100};
// Connections are made while a job starts. Later ones are rare, and reading takes processor time.
constexpr std::chrono::seconds kStart{2};
constexpr std::chrono::seconds kSeldomInterval{5};

/// Returns a new path, because another job of this process may have a socket too.
std::string NewPath(const std::string& directory, const std::string& prefix) {
  for (int number = 0;; ++number) {
    std::string path = fmt::format("{}/{}{}-{}", directory, prefix, ::getpid(), number);
    if (!fs::exists(path)) return path;
  }
}

[[noreturn]] void FailForOtherCongestionControl(int host, const TcpConnectionEnd& end,
                                                const std::string& asked) {
  throw MissingBackendError(fmt::format(
      "host {}: TCP uses {} from {}:{} to {}:{}, although {} was set: the network is not the one "
      "asked for",
      host, end.congestion_control, end.local_address, end.local_port, end.remote_address,
      end.remote_port, asked));
}

}  // namespace

SocketFile::SocketFile(const Environment& environment) {
  const std::string directory = PrivateDirectory(environment);
  const std::string prefix = fmt::format("network-{}-", ProcessNamespace());
  RemoveLeftovers(directory, prefix);
  path_ = NewPath(directory, prefix);
  if (path_.size() >= sizeof(sockaddr_un::sun_path)) {
    throw ConfigError(path_ + ": too long for a socket; set XDG_RUNTIME_DIR to a shorter one");
  }
}

SocketFile::~SocketFile() { ::unlink(path_.c_str()); }

EmulatedNetwork::EmulatedNetwork(const NetworkPlan& plan, double dilation,
                                 const Environment& environment, const StopCheck& check)
    : lab_(Dilated(plan, dilation), check),
      record_(NetworkRecord(plan.spec, CalibrateLinks(lab_, check), dilation)),
      socket_(environment) {
  for (std::size_t host = 0; host < lab_.plan().hosts.size(); ++host) {
    connections_.emplace_back(lab_.host(static_cast<int>(host)));
  }
}

int EmulatedNetwork::HostOf(const Member& who) const {
  const NetworkPlan& plan = lab_.plan();
  const auto& hosts = who.role == Role::kServer ? plan.server_hosts : plan.worker_hosts;
  return hosts.at(static_cast<std::size_t>(who.index));
}

const std::string& EmulatedNetwork::AddressOf(const Member& who) const {
  return lab_.plan().hosts[static_cast<std::size_t>(HostOf(who))].address;
}

void EmulatedNetwork::WriteRecord(const std::string& bundle_dir) const {
  WriteFileAtomically(bundle_dir + "/network.json", record_.dump(2) + "\n");
}

void EmulatedNetwork::ReadConnections() {
  const NetworkPlan& plan = lab_.plan();
  std::int64_t ends = 0;
  for (std::size_t host = 0; host < connections_.size(); ++host) {
    for (const TcpConnectionEnd& end : connections_[host].List()) {
      // The others are those of loopback, which no link carries.
      if (end.local_address != plan.hosts[host].address) continue;
      if (end.congestion_control != plan.spec.congestion) {
        FailForOtherCongestionControl(static_cast<int>(host), end, plan.spec.congestion);
      }
      ++ends;
    }
  }
  const std::int64_t most = Connected() ? record_["connections"]["ends"].get<std::int64_t>() : 0;
  if (ends <= most) return;
  record_["connections"] = {{"ends", ends}, {"congestion_control", plan.spec.congestion}};
}

void EmulatedNetwork::WatchConnections(bool stepping) {
  const Clock::time_point now = Clock::now();
  const bool first_steps = stepping && !stepping_;
  if (!first_steps && now < next_reading_) return;
  stepping_ = stepping;
  ReadConnections();
  if (!seldom_from_ && (Connected() || stepping)) seldom_from_ = now + kStart;
  const bool seldom = seldom_from_ && now > *seldom_from_;
  next_reading_ = now + (seldom ? kSeldomInterval : kReadingInterval);
}

}  // namespace ringside

#include "ringside/experiments/job/launcher/emulated_network.h"

#include <signal.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "ringside/common/core/errors.h"
#include "ringside/experiments/lab/calibration.h"
#include "ringside/experiments/system/private_file.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "network-";

/// Returns PID of a name "network-PID-NAME", or -1 for any other name.
pid_t OwnerOf(const std::string& name) {
  pid_t pid = -1;
  if (!name.starts_with(kPrefix)) return -1;
  const char* begin = name.data() + kPrefix.size();
  const auto [end, error] = std::from_chars(begin, name.data() + name.size(), pid);
  return error == std::errc() && end != name.data() + name.size() && *end == '-' ? pid : -1;
}

void RemoveLeftovers(const std::string& directory) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(directory, ignored)) {
    const pid_t owner = OwnerOf(entry.path().filename());
    if (owner > 0 && ::kill(owner, 0) != 0 && errno == ESRCH) fs::remove(entry.path(), ignored);
  }
}

/// Returns a new path, because another job of this process may have a socket too.
std::string NewPath(const std::string& directory) {
  for (int number = 0;; ++number) {
    std::string path = directory + "/" + std::string(kPrefix) + std::to_string(::getpid()) + "-" +
                       std::to_string(number);
    if (!fs::exists(path)) return path;
  }
}

}  // namespace

SocketFile::SocketFile(const Environment& environment) {
  const std::string directory = PrivateDirectory(environment);
  RemoveLeftovers(directory);
  path_ = NewPath(directory);
  if (path_.size() >= sizeof(sockaddr_un::sun_path)) {
    throw ConfigError(path_ + ": too long for a socket; set XDG_RUNTIME_DIR to a shorter one");
  }
}

SocketFile::~SocketFile() { ::unlink(path_.c_str()); }

EmulatedNetwork::EmulatedNetwork(NetworkPlan plan, const Environment& environment,
                                 const StopCheck& check)
    : lab_(std::move(plan), check),
      record_(NetworkRecord(lab_.plan().spec, CalibrateLinks(lab_, check),
                            lab_.host(0).congestion_control())),
      socket_(environment) {}

int EmulatedNetwork::HostOf(const Member& who) const {
  const NetworkPlan& plan = lab_.plan();
  const auto& hosts = who.role == Role::kServer ? plan.server_hosts : plan.worker_hosts;
  return hosts.at(static_cast<std::size_t>(who.index));
}

const std::string& EmulatedNetwork::AddressOf(const Member& who) const {
  return lab_.plan().hosts[static_cast<std::size_t>(HostOf(who))].address;
}

}  // namespace ringside

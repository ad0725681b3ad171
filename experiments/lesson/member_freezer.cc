#include "ringside/experiments/lesson/member_freezer.h"

#include <fmt/format.h>
#include <signal.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/spec/bundle.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;

bool HasCheckpoint(const fs::path& bundle) {
  std::error_code missing;  // the run has not begun
  for (const auto& entry : fs::directory_iterator(bundle / "checkpoints", missing)) {
    if (entry.path().extension() == ".ckpt") return true;
  }
  return false;
}

/// The parent of a process; 0: there is no such process.
pid_t ParentOf(pid_t pid) {
  std::ifstream status(fmt::format("/proc/{}/status", pid));
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("PPid:")) return std::stoi(line.substr(5));
  }
  return 0;
}

}  // namespace

pid_t MemberFreezer::Find() const {
  const fs::path path = fs::path(bundle_) / "processes.json";
  if (!fs::exists(path)) return 0;  // the run replaces an older one
  for (const nlohmann::json& process : ReadJsonFile(path)) {
    if (process.at("name") == member_) return process.at("pid").get<pid_t>();
  }
  throw Error(fmt::format("the run in {} has no {}", bundle_, member_));
}

void MemberFreezer::Tick() {
  if (member_.empty() || !command_.empty() || !HasCheckpoint(bundle_)) return;
  const pid_t pid = Find();
  if (pid <= 0 || ParentOf(pid) != launcher_) return;
  if (::kill(pid, SIGSTOP) != 0) return;
  command_ = fmt::format("kill -STOP {}  # {}, from {}/processes.json, at the first checkpoint",
                         pid, member_, bundle_);
}

}  // namespace ringside

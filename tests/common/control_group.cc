#include "tests/common/control_group.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <system_error>
#include <thread>

namespace ringside {
namespace {

namespace fs = std::filesystem;

constexpr int kPeriodUs = 100'000;

bool Write(const fs::path& path, const std::string& text) {
  std::ofstream file(path);
  return static_cast<bool>(file << text << std::flush);
}

constexpr std::chrono::seconds kEndOfMembers{10};

}  // namespace

std::unique_ptr<ControlGroup> ControlGroup::OfProcesses(int most) {
  const Settings settings = {{"pids.max", std::to_string(most)}};
  return Make("pids", settings, settings);
}

std::unique_ptr<ControlGroup> ControlGroup::OfProcessorTime(int thousandths) {
  const std::string period = std::to_string(kPeriodUs);
  const std::string quota = std::to_string(kPeriodUs / 1000 * thousandths);
  return Make("cpu", {{"cpu.cfs_period_us", period}, {"cpu.cfs_quota_us", quota}},
              {{"cpu.max", quota + " " + period}});
}

std::unique_ptr<ControlGroup> ControlGroup::Make(const std::string& kind,
                                                 const Settings& first_version,
                                                 const Settings& second_version) {
  // The first version of control groups has a folder for each kind of limit, the second has one.
  const fs::path all = "/sys/fs/cgroup";
  for (const auto& [root, settings] :
       {std::pair(all / kind, first_version), std::pair(all, second_version)}) {
    const fs::path folder = root / ("ringside-test-" + std::to_string(::getpid()));
    std::error_code error;
    if (!fs::create_directory(folder, error)) continue;
    std::unique_ptr<ControlGroup> group(new ControlGroup(root, folder));
    if (group->Set(settings)) return group;
  }
  return nullptr;
}

ControlGroup::~ControlGroup() {
  // Those that a failing test has left in it may still be ending.
  const auto end = std::chrono::steady_clock::now() + kEndOfMembers;
  std::error_code error;
  while (!fs::remove(folder_, error) && std::chrono::steady_clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_FALSE(error) << folder_ << ": " << error.message();
}

void ControlGroup::Take(pid_t pid) const {
  EXPECT_TRUE(Write(folder_ / "cgroup.procs", std::to_string(pid))) << folder_ << " takes " << pid;
}

void ControlGroup::LetGo(pid_t pid) const {
  EXPECT_TRUE(Write(root_ / "cgroup.procs", std::to_string(pid))) << root_ << " takes " << pid;
}

bool ControlGroup::Set(const Settings& settings) const {
  for (const auto& [name, value] : settings) {
    if (!fs::exists(folder_ / name) || !Write(folder_ / name, value)) return false;
    std::ifstream file(folder_ / name);
    std::string in_force;
    if (!std::getline(file, in_force) || in_force != value) return false;
  }
  return true;
}

}  // namespace ringside

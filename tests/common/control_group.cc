#include "tests/common/control_group.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <system_error>

namespace ringside {
namespace {

namespace fs = std::filesystem;

constexpr int kPeriodUs = 100'000;

void Write(const fs::path& path, const std::string& text) {
  std::ofstream(path) << text << std::flush;  // `Set` reads it back
}

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
  std::error_code error;
  fs::remove(folder_, error);
  EXPECT_FALSE(error) << folder_ << ": " << error.message();
}

void ControlGroup::Take(pid_t pid) const { Write(folder_ / "cgroup.procs", std::to_string(pid)); }

void ControlGroup::LetGo(pid_t pid) const { Write(root_ / "cgroup.procs", std::to_string(pid)); }

bool ControlGroup::Set(const Settings& settings) const {
  for (const auto& [name, value] : settings) {
    if (!fs::exists(folder_ / name)) return false;
    Write(folder_ / name, value);
    std::ifstream file(folder_ / name);
    std::string in_force;
    if (!std::getline(file, in_force) || in_force != value) return false;
  }
  return true;
}

}  // namespace ringside

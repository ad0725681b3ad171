#include "tests/experiments/job/job_testing.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <thread>

#include "ringside/common/base/deadline.h"
#include "ringside/experiments/spec/resolve/resolve.h"
#include "ringside/experiments/system/processes/process.h"
#include "tests/experiments/test_catalog.h"

namespace ringside {
namespace {

struct ProcessStat {
  char state = 'X';
  pid_t group = -1;
};

/// Returns state 'X' when there is no such process.
ProcessStat ReadStat(const std::string& pid) {
  std::ifstream file("/proc/" + pid + "/stat");
  std::string line;
  std::getline(file, line);
  const std::size_t bracket = line.rfind(')');
  ProcessStat stat;
  if (bracket == std::string::npos) return stat;
  pid_t parent = -1;
  std::istringstream(line.substr(bracket + 1)) >> stat.state >> parent >> stat.group;
  return stat;
}

bool IsLiving(const ProcessStat& stat) { return stat.state != 'X' && stat.state != 'Z'; }

int StepLines(const std::filesystem::path& path) {
  std::ifstream file(path);
  int steps = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.find("\"kind\":\"step\"") != std::string::npos) ++steps;
  }
  return steps;
}

nlohmann::json Processes(const std::string& bundle) {
  std::ifstream file(bundle + "/processes.json");
  const auto json = nlohmann::json::parse(file, nullptr, false);
  return json.is_array() ? json : nlohmann::json::array();
}

}  // namespace

ScopedVariable::ScopedVariable(const std::string& name, const std::string& value) : name_(name) {
  if (const char* before = ::getenv(name.c_str())) before_ = before;
  ::setenv(name.c_str(), value.c_str(), 1);
}

ScopedVariable::~ScopedVariable() {
  if (before_) {
    ::setenv(name_.c_str(), before_->c_str(), 1);
  } else {
    ::unsetenv(name_.c_str());
  }
}

void WaitUntil(const std::string& what, const std::function<bool()>& is_so,
               std::chrono::seconds limit) {
  const Deadline deadline = Deadline::After(limit);
  while (!is_so()) {
    if (deadline.expired()) throw std::runtime_error("waited in vain for " + what);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

std::vector<pid_t> ProcessesOfGroup(pid_t group) {
  std::vector<pid_t> pids;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const ProcessStat stat = ReadStat(name);
    if (IsLiving(stat) && stat.group == group) pids.push_back(std::stoi(name));
  }
  return pids;
}

bool IsAlive(pid_t pid) { return IsLiving(ReadStat(std::to_string(pid))); }

int StepsIn(const std::string& bundle) { return StepLines(bundle + "/metrics.jsonl"); }

int CommonStepsIn(const std::string& bundle) {
  std::optional<int> fewest;
  std::error_code not_there_yet;
  for (const auto& entry : std::filesystem::directory_iterator(bundle, not_there_yet)) {
    if (!entry.path().filename().string().starts_with("metrics")) continue;
    const int steps = StepLines(entry.path());
    fewest = std::min(fewest.value_or(steps), steps);
  }
  return fewest.value_or(0);
}

double CoordinatorSilence(const std::string& output) {
  std::smatch found;
  if (!std::regex_search(output, found, std::regex("it was silent for ([0-9.]+) s"))) {
    throw std::runtime_error("no silence of the coordinator in: " + output);
  }
  return std::stod(found[1]);
}

pid_t PidIn(const std::string& bundle, const std::string& name) {
  for (const auto& process : Processes(bundle)) {
    if (process.at("name") == name) return process.at("pid").get<pid_t>();
  }
  throw std::runtime_error("the job has no process '" + name + "'");
}

std::vector<pid_t> PidsIn(const std::string& bundle) {
  std::vector<pid_t> pids;
  for (const auto& process : Processes(bundle)) pids.push_back(process.at("pid").get<pid_t>());
  return pids;
}

std::string RingsideProgram() { return DirectoryOfThisExecutable() + "/ringside"; }

std::string ProgramWithFaults() { return DirectoryOfThisExecutable() + "/fault_program"; }

RunSpec ProfileSpec(const std::string& strategy, int workers, int steps) {
  RunSpec spec(TestCatalog());
  spec.strategy = strategy;
  spec.workers = workers;
  spec.model = "profile:mobilenet-v2";
  spec.data = "";
  spec.compute_ms = 5;
  spec.steps = steps;
  spec.warmup_steps = 1;
  return Resolve(spec);
}

}  // namespace ringside

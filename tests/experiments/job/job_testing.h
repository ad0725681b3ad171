#ifndef RINGSIDE_TESTS_EXPERIMENTS_JOB_JOB_TESTING_H_
#define RINGSIDE_TESTS_EXPERIMENTS_JOB_JOB_TESTING_H_

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ringside/experiments/spec/run_spec.h"

namespace ringside {

/// Sets an environment variable of this process, and so of its children, during its lifetime.
class ScopedVariable {
 public:
  ScopedVariable(const std::string& name, const std::string& value);
  ~ScopedVariable();
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;

 private:
  std::string name_;
  std::optional<std::string> before_;
};

/// Waits until `is_so` returns true. Throws `std::runtime_error` naming `what` at the limit.
void WaitUntil(const std::string& what, const std::function<bool()>& is_so,
               std::chrono::seconds limit = std::chrono::minutes(1));

/// The living processes of a process group, without zombies.
std::vector<pid_t> ProcessesOfGroup(pid_t group);
bool IsAlive(pid_t pid);

/// The number of steps that rank 0 has reported in the bundle's metrics.
int StepsIn(const std::string& bundle);
/// The number of steps that every rank has reported.
int CommonStepsIn(const std::string& bundle);
/// The pid of process `name` in the bundle's processes.json. Throws when there is no such name: a
/// test that signals -1 would end every process.
pid_t PidIn(const std::string& bundle, const std::string& name);
std::vector<pid_t> PidsIn(const std::string& bundle);

/// How long the coordinator had been silent when a member gave it up, as its output says. Throws
/// `std::runtime_error` when it does not say so.
double CoordinatorSilence(const std::string& output);

/// `JobOptions::program` of jobs that a test runs in its own process.
std::string RingsideProgram();
/// The same with the faults that RINGSIDE_FAULT plans (tests/faults/planned_fault.h).
std::string ProgramWithFaults();

/// A small resolved run of a profile model, which sends every byte and computes nothing.
RunSpec ProfileSpec(const std::string& strategy, int workers, int steps);

}  // namespace ringside

#endif  // RINGSIDE_TESTS_EXPERIMENTS_JOB_JOB_TESTING_H_

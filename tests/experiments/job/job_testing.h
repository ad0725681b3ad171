#ifndef RINGSIDE_TESTS_EXPERIMENTS_JOB_JOB_TESTING_H_
#define RINGSIDE_TESTS_EXPERIMENTS_JOB_JOB_TESTING_H_

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "experiments/run_spec.h"

namespace ringside {

/// A new directory, removed with all that is in it.
class TemporaryDirectory {
 public:
  TemporaryDirectory();
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Sets a variable of this process, and hence of its children, while it lives.
class ScopedVariable {
 public:
  ScopedVariable(const std::string& name, const std::string& value);
  ~ScopedVariable();
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;

 private:
  std::string name_;
};

/// Looks until it is so. Throws `std::runtime_error` naming `what` after a minute.
void WaitUntil(const std::string& what, const std::function<bool()>& is_so);

/// Living processes (no zombies) of a process group.
std::vector<pid_t> ProcessesOfGroup(pid_t group);
bool IsAlive(pid_t pid);

/// Of the bundle's metrics: steps that rank 0 has told of.
int StepsIn(const std::string& bundle);
/// Steps that every rank has told of.
int CommonStepsIn(const std::string& bundle);
/// Of the bundle's processes.json. Throws when there is none of that name: a test that signals -1
/// would end every process there is.
pid_t PidIn(const std::string& bundle, const std::string& name);
std::vector<pid_t> PidsIn(const std::string& bundle);

/// A small run of a profile model, resolved: every byte is sent, nothing is computed.
RunSpec ProfileSpec(const std::string& strategy, int workers, int steps);

}  // namespace ringside

#endif  // RINGSIDE_TESTS_EXPERIMENTS_JOB_JOB_TESTING_H_

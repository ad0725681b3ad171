#ifndef RINGSIDE_TESTS_COMMON_CONTROL_GROUP_H_
#define RINGSIDE_TESTS_COMMON_CONTROL_GROUP_H_

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace ringside {

/// A control group whose limit is in force for whoever is in it. It goes with its object; nobody
/// may be in it then. Absent where there cannot be one: it needs root and control groups of its
/// kind.
class ControlGroup {
 public:
  /// Files of the group, and what is written there.
  using Settings = std::vector<std::pair<std::string, std::string>>;

  /// At most so many processes and threads.
  static std::unique_ptr<ControlGroup> OfProcesses(int most);
  /// At most this share of one processor, in thousandths, for all threads together.
  static std::unique_ptr<ControlGroup> OfProcessorTime(int thousandths);

  ~ControlGroup();
  ControlGroup(const ControlGroup&) = delete;
  ControlGroup& operator=(const ControlGroup&) = delete;

  /// A shell command with which the shell joins.
  std::string JoinCommand() const { return "echo $$ > " + (folder_ / "cgroup.procs").string(); }
  /// Takes the process, with all its threads, from where it was.
  void Take(pid_t pid) const;
  /// Lets a process go that was taken or has joined.
  void LetGo(pid_t pid) const;

 private:
  ControlGroup(std::filesystem::path root, std::filesystem::path folder)
      : root_(std::move(root)), folder_(std::move(folder)) {}
  static std::unique_ptr<ControlGroup> Make(const std::string& kind, const Settings& first_version,
                                            const Settings& second_version);
  /// Whether each file has what was written.
  bool Set(const Settings& settings) const;

  const std::filesystem::path root_;
  const std::filesystem::path folder_;
};

}  // namespace ringside

#endif  // RINGSIDE_TESTS_COMMON_CONTROL_GROUP_H_

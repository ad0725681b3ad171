#ifndef RINGSIDE_EXPERIMENTS_CLI_WORK_DIRECTORY_H_
#define RINGSIDE_EXPERIMENTS_CLI_WORK_DIRECTORY_H_

#include <filesystem>
#include <string>

namespace ringside {

/// Where the bundles of a verb's many runs lie: kept when the caller named the place or `Keep` was
/// called, else a temporary directory that goes with this object.
class WorkDirectory {
 public:
  /// `wanted`: empty for a temporary one, which is named after the verb. Throws `Error`.
  WorkDirectory(const std::string& verb, const std::string& wanted);
  ~WorkDirectory();
  WorkDirectory(const WorkDirectory&) = delete;
  WorkDirectory& operator=(const WorkDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }
  void Keep() { keep_ = true; }

 private:
  bool keep_;
  std::filesystem::path path_;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_CLI_WORK_DIRECTORY_H_

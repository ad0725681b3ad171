#ifndef RINGSIDE_EXPERIMENTS_CLI_WORK_DIRECTORY_H_
#define RINGSIDE_EXPERIMENTS_CLI_WORK_DIRECTORY_H_

#include <filesystem>
#include <string>

namespace ringside {

/// The directory for the bundles of a verb's runs. It stays when the caller named it or called
/// `Keep`. Else it is a temporary directory that the destructor removes.
class WorkDirectory {
 public:
  /// `wanted` is the directory; empty: a temporary one, named after `verb`. Throws `Error`.
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

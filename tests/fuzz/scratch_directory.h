#ifndef RINGSIDE_TESTS_FUZZ_SCRATCH_DIRECTORY_H_
#define RINGSIDE_TESTS_FUZZ_SCRATCH_DIRECTORY_H_

#include <fcntl.h>
#include <stdlib.h>
#include <sys/types.h>
#include <unistd.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include "ringside/common/base/file_descriptor.h"

namespace ringside {

/// A directory for parsers that read from a path: in memory where there is /dev/shm, and open to
/// this user alone. The destructor removes it with its content.
class ScratchDirectory {
 public:
  ScratchDirectory() {
    namespace fs = std::filesystem;
    std::error_code error;
    const fs::path memory = "/dev/shm";
    const fs::path parent = fs::is_directory(memory, error) ? memory : fs::temp_directory_path();
    path_ = (parent / "ringside-fuzz-XXXXXX").string();
    if (::mkdtemp(path_.data()) == nullptr) throw std::runtime_error(path_ + ": cannot be created");
  }
  ~ScratchDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  ScratchDirectory(const ScratchDirectory&) = delete;
  ScratchDirectory& operator=(const ScratchDirectory&) = delete;

  const std::string& path() const { return path_; }
  /// The path of `name` in it.
  std::string Path(const std::string& name) const { return path_ + "/" + name; }
  /// Makes or replaces the file `name`, which only this user can read.
  void Write(const std::string& name, std::string_view bytes) const {
    const int flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC;
    const FileDescriptor file(::open(Path(name).c_str(), flags, 0600));
    if (file.get() < 0 ||
        ::write(file.get(), bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size())) {
      throw std::runtime_error(Path(name) + ": cannot be written");
    }
  }

 private:
  std::string path_;
};

}  // namespace ringside

#endif  // RINGSIDE_TESTS_FUZZ_SCRATCH_DIRECTORY_H_

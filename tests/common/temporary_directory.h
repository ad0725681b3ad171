#ifndef RINGSIDE_TESTS_COMMON_TEMPORARY_DIRECTORY_H_
#define RINGSIDE_TESTS_COMMON_TEMPORARY_DIRECTORY_H_

#include <stdlib.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

namespace ringside {

/// A new directory, which the destructor removes with its content.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    path_ = (std::filesystem::temp_directory_path() / "ringside-test-XXXXXX").string();
    if (::mkdtemp(path_.data()) == nullptr) throw std::runtime_error(path_ + ": cannot be created");
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::string& path() const { return path_; }
  /// The path of `name` in it.
  std::string Path(const std::string& name) const { return path_ + "/" + name; }
  /// Makes or replaces the file `name` in it.
  void Write(const std::string& name, const std::vector<std::uint8_t>& bytes) const {
    std::ofstream file(Path(name), std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }

 private:
  std::string path_;
};

}  // namespace ringside

#endif  // RINGSIDE_TESTS_COMMON_TEMPORARY_DIRECTORY_H_

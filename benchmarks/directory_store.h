#ifndef RINGSIDE_BENCHMARKS_DIRECTORY_STORE_H_
#define RINGSIDE_BENCHMARKS_DIRECTORY_STORE_H_

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <thread>

#include "ringside/common/base/errors.h"
#include "ringside/common/core/store.h"

namespace ringside {

/// A store for processes that share a file system: one file per key, read by polling. For
/// benchmarks only.
class DirectoryStore : public Store {
 public:
  explicit DirectoryStore(std::filesystem::path directory) : directory_(std::move(directory)) {
    std::filesystem::create_directories(directory_);
  }

  void Set(std::string_view key, std::string_view value) override {
    const auto path = PathOf(key);
    const auto draft = std::filesystem::path(path.string() + ".draft");
    std::ofstream(draft, std::ios::binary) << value;
    std::filesystem::rename(draft, path);
  }

  std::string Get(std::string_view key, const Deadline& deadline) override {
    while (!std::filesystem::exists(PathOf(key))) {
      if (deadline.expired()) {
        throw CommError("store", "waiting for " + std::string(key), "it was not set in time");
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    std::ifstream file(PathOf(key), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  std::filesystem::path PathOf(std::string_view key) const {
    std::string name(key);
    std::ranges::replace(name, '/', '_');
    return directory_ / name;
  }

  std::filesystem::path directory_;
};

}  // namespace ringside

#endif  // RINGSIDE_BENCHMARKS_DIRECTORY_STORE_H_

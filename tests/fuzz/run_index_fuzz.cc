// The index of a directory of results: a SQLite file that may be damaged. It is opened and filled.
// The length of an input, even or odd, decides how. SQLite keeps its locks here until it
// closes the file, because nobody else has it, and each lock costs a system call.
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include "ringside/experiments/store/run_index.h"
#include "ringside/experiments/store/run_row.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/scratch_directory.h"

namespace ringside {
namespace {

void KeepLocks() {
  sqlite3_vfs* exclusive = ::sqlite3_vfs_find("unix-excl");
  if (exclusive == nullptr || ::sqlite3_vfs_register(exclusive, 1) != SQLITE_OK) {
    throw std::runtime_error("SQLite cannot keep its locks");
  }
}

const ScratchDirectory& Scratch() {
  static const ScratchDirectory scratch = [] {
    KeepLocks();
    return ScratchDirectory();
  }();
  return scratch;
}

void RemoveIndex() {
  for (const char* suffix : {"", "-journal", "-wal", "-shm"}) {
    const std::string path = Scratch().Path(kIndexFile) + suffix;
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) {
      throw std::runtime_error(path + ": cannot be removed");
    }
  }
}

RunRow MakeRow(const std::string& path) {
  RunRow row{.path = path, .spec = "{}", .values = {}};
  for (const RunColumn& column : RunColumns()) {
    switch (column.type) {
      case RunColumn::Type::kText:
        row.values.emplace_back("text");
        break;
      case RunColumn::Type::kInteger:
        row.values.emplace_back(7);
        break;
      case RunColumn::Type::kReal:
        row.values.emplace_back(0.5);
        break;
    }
  }
  return row;
}

// Fills it as `ringside index` does, or as a matrix does after a run.
void Use(bool whole) {
  static const std::vector<RunRow> all{MakeRow("a")};
  static const RunRow other = MakeRow("b");
  RunIndex index = RunIndex::Open(Scratch().path());
  if (whole) {
    index.ReplaceAll(all);
  } else {
    index.Remove(all.front().path);
    index.Put(other);
  }
}

std::string Content() {
  std::ifstream file(Scratch().Path(kIndexFile), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// An index of another version, or of another program: two fields of SQLite's header.
std::string WithNumber(std::string content, std::size_t at, char number) {
  content.replace(at, 4, std::string{'\0', '\0', '\0', number});
  return content;
}

}  // namespace

std::vector<std::string> FuzzSeeds() {
  constexpr std::size_t kUserVersion = 60;
  constexpr std::size_t kApplication = 68;
  RemoveIndex();
  Use(true);
  Use(false);
  const std::string content = Content();
  return {content, WithNumber(content, kUserVersion, 1), WithNumber(content, kUserVersion, 9),
          WithNumber(content, kApplication, 1)};
}

}  // namespace ringside

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ringside;
  RemoveIndex();
  Scratch().Write(kIndexFile, FuzzInput(data, size).Rest());
  DropRefusals([size] { Use(size % 2 == 0); });
  return 0;
}

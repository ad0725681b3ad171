#include "tests/experiments/cli/ringside_process.h"

#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <system_error>

namespace ringside {
namespace {

namespace fs = std::filesystem;

std::string ReadAll(const fs::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

RingsideProcessTest::RingsideProcessTest() {
  std::string pattern = ::testing::TempDir() + "ringside-test-XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) throw std::runtime_error(pattern);
  scratch_ = pattern;
}

RingsideProcessTest::~RingsideProcessTest() {
  std::error_code ignored;
  fs::remove_all(scratch_, ignored);
}

ProcessResult RingsideProcessTest::RunRingside(const std::string& args,
                                               const std::string& variables) const {
  const fs::path scratch = scratch_;
  const std::string command = "cd '" + scratch_ + "' && " + variables + " " + RINGSIDE_EXECUTABLE +
                              " " + args + " >.out 2>.err </dev/null";
  const int status = std::system(command.c_str());
  ProcessResult result;
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.out = ReadAll(scratch / ".out");
  result.err = ReadAll(scratch / ".err");
  return result;
}

}  // namespace ringside

#include "tests/experiments/cli/ringside_process.h"

#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace ringside {
namespace {

namespace fs = std::filesystem;

std::string ReadAll(const fs::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

ProcessResult RingsideProcessTest::RunRingside(const std::string& args,
                                               const std::string& variables) const {
  return RunProgram(RINGSIDE_EXECUTABLE, args, variables);
}

ProcessResult RingsideProcessTest::RunWithFault(const std::string& args, const std::string& fault,
                                                const std::string& variables) const {
  const fs::path program = fs::path(RINGSIDE_EXECUTABLE).parent_path() / "fault_program";
  return RunProgram(program.string(), args, variables + " RINGSIDE_FAULT=" + fault);
}

ProcessResult RingsideProcessTest::RunProgram(const std::string& program, const std::string& args,
                                              const std::string& variables) const {
  const fs::path directory = scratch();
  const std::string command = "cd '" + scratch() + "' && " + variables + " " + program + " " +
                              args + " >.out 2>.err </dev/null";
  const int status = std::system(command.c_str());
  ProcessResult result;
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  result.out = ReadAll(directory / ".out");
  result.err = ReadAll(directory / ".err");
  return result;
}

}  // namespace ringside

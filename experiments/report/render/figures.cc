#include "ringside/experiments/report/render/figures.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <sstream>

#include "ringside/common/base/deadline.h"
#include "ringside/common/base/errors.h"
#include "ringside/experiments/report/render/page_assets.h"
#include "ringside/experiments/system/files/find_program.h"
#include "ringside/experiments/system/processes/process.h"
#include "ringside/experiments/text/printable.h"

namespace ringside {
namespace {

constexpr int kNoMatplotlib = 4;
constexpr std::chrono::minutes kTimeLimit{10};
constexpr std::chrono::milliseconds kTick{50};
constexpr char kSystemPython[] = "/usr/bin/python3";

struct ScriptResult {
  ProcessEnd end;
  std::string output;
};

void Read(Process& process, std::string& output) {
  pollfd ready{process.output_fd(), POLLIN, 0};
  // If it fails, this round was shorter. The descriptor does not block.
  ::poll(&ready, 1, static_cast<int>(kTick.count()));
  std::array<char, 4096> buffer;
  for (ssize_t count = 0;
       (count = ::read(process.output_fd(), buffer.data(), buffer.size())) > 0;) {
    output.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

ScriptResult RunScript(const std::string& python, const std::string& report_json,
                       const std::string& directory) {
  const auto script = FigureScriptBytes();
  // With -B, and a script read from a descriptor, Python writes no file but the figures.
  Process process(
      {.argv = {python, "-B", fmt::format("/dev/fd/{}", kSecretInputFd), report_json, directory},
       .secret_input = std::string(script.begin(), script.end())});
  const Deadline deadline = Deadline::After(kTimeLimit);
  ScriptResult result;
  std::optional<ProcessEnd> end;
  while (!(end = process.Poll())) {
    Read(process, result.output);
    if (deadline.expired()) throw Error("the figures took longer than ten minutes");
  }
  Read(process, result.output);
  result.end = *end;
  return result;
}

bool IsFileUnder(const std::filesystem::path& directory, const std::string& path) {
  std::error_code error;
  const auto file =
      std::filesystem::weakly_canonical(std::filesystem::absolute(path, error), error);
  const auto place = std::ranges::mismatch(directory, file);
  return place.in1 == directory.end() && std::filesystem::is_regular_file(file, error);
}

/// The lines of `output` that name files in `directory`. Other lines, such as a library's warnings,
/// are printed for people.
std::vector<std::string> FiguresIn(const std::string& directory, const std::string& output) {
  const std::filesystem::path place =
      std::filesystem::weakly_canonical(std::filesystem::absolute(directory));
  std::vector<std::string> files;
  std::istringstream stream(output);
  for (std::string line; std::getline(stream, line);) {
    if (IsFileUnder(place, line)) {
      files.push_back(line);
    } else {
      PrintText(stderr, "{}\n", line);
    }
  }
  return files;
}

}  // namespace

std::vector<std::string> DefaultPythons() {
  std::vector<std::string> pythons;
  if (const std::string found = FindProgram("python3"); !found.empty()) pythons.push_back(found);
  if (std::ranges::find(pythons, kSystemPython) == pythons.end() &&
      ::access(kSystemPython, X_OK) == 0) {
    pythons.emplace_back(kSystemPython);
  }
  return pythons;
}

std::vector<std::string> WriteFigures(const std::string& report_json, const std::string& directory,
                                      const std::vector<std::string>& pythons) {
  std::string reasons = pythons.empty() ? "there is no python3" : "";
  for (const std::string& python : pythons) {
    const ScriptResult result = RunScript(python, report_json, directory);
    if (result.end.signal == 0 && result.end.code == 0) return FiguresIn(directory, result.output);
    if (result.end.signal != 0 || result.end.code != kNoMatplotlib) {
      throw Error(fmt::format("{} {} while it drew the figures:\n{}", python, result.end.Text(),
                              result.output));
    }
    reasons += (reasons.empty() ? "" : "; ") + result.output.substr(0, result.output.find('\n'));
  }
  throw MissingBackendError(
      fmt::format("figures need Python with matplotlib (python3-matplotlib): {}", reasons));
}

}  // namespace ringside

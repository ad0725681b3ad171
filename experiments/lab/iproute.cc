#include "ringside/experiments/lab/iproute.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string_view>

#include "ringside/common/base/deadline.h"
#include "ringside/common/base/errors.h"
#include "ringside/common/base/killed_program_error.h"
#include "ringside/experiments/system/files/find_program.h"
#include "ringside/experiments/system/processes/process.h"

namespace ringside {
namespace {

constexpr std::chrono::seconds kCommandTimeout{30};
constexpr std::size_t kScriptBytes = 48 << 10;  // a child's input is a pipe of 64 KiB

/// Takes what can be read now from a non-blocking descriptor.
std::string Drain(int fd) {
  std::string text;
  std::array<char, 4096> buffer;
  while (true) {
    const ssize_t count = ::read(fd, buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno != EAGAIN) {
      throw InternalError(std::string("reading a program's output: ") + std::strerror(errno));
    }
    if (count <= 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

std::string FirstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

/// A program of iproute2 with the options that come before its script.
struct Tool {
  const char* name;
  std::vector<std::string> options{};
};

std::string RunOnce(const Tool& tool, const NetNamespace& where, const std::string& script) {
  const std::string path = FindProgram(tool.name);
  if (path.empty()) {
    throw MissingBackendError(fmt::format("there is no {}: install iproute2", tool.name));
  }
  std::vector<std::string> argv{path};
  argv.insert(argv.end(), tool.options.begin(), tool.options.end());
  argv.insert(argv.end(), {"-batch", fmt::format("/dev/fd/{}", kSecretInputFd)});
  Process process({.argv = argv, .secret_input = script, .network_namespace = where.fd()});
  const Deadline deadline = Deadline::After(kCommandTimeout);
  std::string output;
  std::optional<ProcessEnd> end;
  while (!(end = process.Poll())) {
    if (deadline.expired()) {
      throw MissingBackendError(
          fmt::format("{} did not finish within {} s", path, kCommandTimeout.count()));
    }
    constexpr int kTickMs = 20;
    pollfd readable{process.output_fd(), POLLIN, 0};
    ::poll(&readable, 1, kTickMs);  // If it fails, the next round only comes earlier.
    output += Drain(process.output_fd());
  }
  output += Drain(process.output_fd());
  if (end->signal == 0 && end->code == 0) return output;
  if (end->signal != 0) {
    throw KilledProgramError(fmt::format("{} {}", path, end->Text()));
  }
  throw MissingBackendError(fmt::format("{} {}: {}", path, end->Text(), FirstLine(output)));
}

std::string RunAll(const Tool& tool, const NetNamespace& where, std::string_view script) {
  std::string output;
  while (!script.empty()) {
    std::size_t size = script.size();
    if (size > kScriptBytes) size = script.rfind('\n', kScriptBytes) + 1;
    output += RunOnce(tool, where, std::string(script.substr(0, size)));
    script.remove_prefix(size);
  }
  return output;
}

std::vector<nlohmann::json> Ask(const Tool& tool, const NetNamespace& where,
                                const std::string& script) {
  const std::string output = RunAll(tool, where, script);
  std::istringstream text(output);
  std::vector<nlohmann::json> answers;
  try {
    while (!(text >> std::ws).eof()) text >> answers.emplace_back();
  } catch (const nlohmann::json::exception&) {
    throw MissingBackendError(
        fmt::format("{} did not answer in JSON: {}", tool.name, FirstLine(output)));
  }
  const auto lines = static_cast<std::size_t>(std::ranges::count(script, '\n'));
  if (answers.size() == lines) return answers;
  throw MissingBackendError(
      fmt::format("{} gave {} answers to {} questions", tool.name, answers.size(), lines));
}

}  // namespace

void RunIp(const NetNamespace& where, const std::string& script) { RunAll({"ip"}, where, script); }
void RunTc(const NetNamespace& where, const std::string& script) { RunAll({"tc"}, where, script); }

std::vector<nlohmann::json> AskIp(const NetNamespace& where, const std::string& script) {
  return Ask({"ip", {"-json", "-details"}}, where, script);
}

std::vector<nlohmann::json> AskTc(const NetNamespace& where, const std::string& script) {
  return Ask({"tc", {"-json"}}, where, script);
}

}  // namespace ringside

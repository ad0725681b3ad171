#include "ringside/experiments/lab/emulation_support.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <optional>

#include "ringside/common/core/deadline.h"
#include "ringside/common/core/errors.h"
#include "ringside/experiments/system/find_program.h"
#include "ringside/experiments/system/process.h"

namespace ringside {
namespace {

constexpr std::chrono::seconds kCommandTimeout{30};
constexpr std::size_t kScriptBytes = 48 << 10;  // a child's input is a pipe of 64 KiB

std::string Drain(int fd) {
  std::string text;
  std::array<char, 4096> buffer;
  for (ssize_t count = 0; (count = ::read(fd, buffer.data(), buffer.size())) > 0;) {
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  return text;
}

std::string FirstLine(const std::string& text) { return text.substr(0, text.find('\n')); }

void RunOnce(const std::string& tool, const NetNamespace& where, const std::string& script) {
  const std::string path = FindProgram(tool);
  if (path.empty()) {
    throw MissingBackendError(fmt::format("there is no {}: install iproute2", tool));
  }
  Process process({.argv = {path, "-batch", fmt::format("/dev/fd/{}", kSecretInputFd)},
                   .secret_input = script,
                   .network_namespace = where.fd()});
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
    ::poll(&readable, 1, kTickMs);
    output += Drain(process.output_fd());
  }
  output += Drain(process.output_fd());
  if (end->signal == 0 && end->code == 0) return;
  throw MissingBackendError(fmt::format("{} {}: {}", path, end->Text(), FirstLine(output)));
}

void RunAll(const std::string& tool, const NetNamespace& where, std::string_view script) {
  while (!script.empty()) {
    std::size_t size = script.size();
    if (size > kScriptBytes) size = script.rfind('\n', kScriptBytes) + 1;
    RunOnce(tool, where, std::string(script.substr(0, size)));
    script.remove_prefix(size);
  }
}

/// The reason why `action` is refused; empty when it is not.
template <typename Action>
std::string WhyNot(const Action& action) {
  try {
    action();
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

std::string WhyNoHosts() {
  for (const char* tool : {"ip", "tc"}) {
    if (FindProgram(tool).empty()) return fmt::format("there is no {}: install iproute2", tool);
  }
  const auto make = [] { NetNamespace::Make(); };
  std::string reason = WhyNot(make);
  if (reason.empty()) return "";
  if (::geteuid() == 0) {
    return reason + ": in a container, give it CAP_SYS_ADMIN and CAP_NET_ADMIN";
  }
  const std::string without_root = EnterUserNamespace();
  if (without_root.empty()) reason = WhyNot(make);
  if (reason.empty()) return "";
  return reason + (without_root.empty() ? "" : "; " + without_root) + ": run it as root (sudo)";
}

std::string WhyNoDiscipline(const std::string& discipline) {
  return WhyNot(
      [&] { RunTc(NetNamespace::Make(), fmt::format("qdisc add dev lo root {}\n", discipline)); });
}

std::string WhyNoRates() {
  const std::string reason = WhyNoDiscipline("tbf rate 1gbit burst 32kb latency 50ms");
  return reason.empty() ? "" : reason + ": the kernel needs sch_tbf";
}

std::string WhyNoDelays() {
  const std::string reason = WhyNoDiscipline("netem delay 1ms");
  return reason.empty() ? ""
                        : reason +
                              ": latency, jitter and loss need the kernel's sch_netem "
                              "(modprobe sch_netem, or another kernel)";
}

}  // namespace

void RunIp(const NetNamespace& where, const std::string& script) { RunAll("ip", where, script); }
void RunTc(const NetNamespace& where, const std::string& script) { RunAll("tc", where, script); }

LabSupport ProbeLab() {
  const std::string hosts = WhyNoHosts();
  if (!hosts.empty()) return {hosts, "needs emulated hosts", "needs emulated hosts"};
  return {"", WhyNoRates(), WhyNoDelays()};
}

std::string WhyNoLab(const NetworkSpec& spec) {
  std::string reason = WhyNoHosts();
  if (reason.empty()) reason = WhyNoRates();
  if (reason.empty() && spec.needs_netem()) reason = WhyNoDelays();
  return reason.empty() ? "" : "the network cannot be emulated here: " + reason;
}

void RequireLab(const NetworkSpec& spec) {
  const std::string reason = WhyNoLab(spec);
  if (!reason.empty()) throw MissingBackendError(reason);
}

}  // namespace ringside

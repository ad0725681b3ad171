#include "ringside/experiments/app/program/main.h"

#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <string>
#include <vector>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/cli/commands.h"
#include "ringside/experiments/cli/exit_codes.h"
#include "ringside/experiments/cli/options/color.h"
#include "ringside/experiments/spec/catalog.h"
#include "ringside/experiments/system/environment/build_info.h"
#include "ringside/experiments/system/output/standard_streams.h"
#include "ringside/experiments/system/processes/lack_of_memory.h"
#include "ringside/experiments/text/did_you_mean.h"

namespace ringside {
namespace {

std::string Help(const Painter& painter) {
  std::string out = fmt::format(
      "{}: parameter servers or a ring? The same training under every strategy, measured.\n\n"
      "{}\n"
      "  ringside train --strategy ring --workers 4 --model mlp --data digits --epochs 5\n"
      "      train one model under one strategy\n"
      "  ringside matrix experiments/specs/quickstart.yaml\n"
      "      compare five strategies with 1, 2 and 4 workers\n"
      "  ringside report results/quickstart\n"
      "      the table of that comparison\n\n"
      "{}\n  ringside VERB [options]      'ringside VERB --help' explains each\n\n{}\n",
      painter.Bold("ringside"), painter.Bold("Examples:"), painter.Bold("Usage:"),
      painter.Bold("Verbs:"));
  for (const Command& command : Commands()) {
    if (!command.hidden) out += fmt::format("  {:<10}{}\n", command.name, command.summary);
  }
  out +=
      "\nExit codes: 0 done, 1 failed, 2 usage, 3 invalid spec, 4 a backend is missing,\n"
      "5 a comparison failed, 124 timed out, 130 interrupted.\n";
  return out;
}

std::string OrNotBuiltIn(const std::string& version) {
  return version.empty() ? "not built in" : version;
}

std::string Version() {
  const BuildInfo build = ThisBuild();
  return fmt::format(
      "ringside {} (git {}, {}, {})\n"
      "backends: gRPC {}, Protocol Buffers {}, Gloo {}, OpenMPI {}, NCCL {}, libtorch {}\n",
      build.version, build.git, build.build_type, build.compiler, build.grpc, build.protobuf,
      build.gloo, OrNotBuiltIn(build.mpi), OrNotBuiltIn(build.nccl), OrNotBuiltIn(build.libtorch));
}

[[noreturn]] void RefuseVerb(const std::string& verb) {
  std::vector<std::string_view> names;
  for (const Command& command : Commands()) {
    if (!command.hidden) names.push_back(command.name);
  }
  const bool flag = verb.starts_with("-");
  throw UsageError(fmt::format("unknown {} '{}'{}; 'ringside --help' lists the verbs",
                               flag ? "flag before the verb" : "verb", verb,
                               flag ? "" : DidYouMean(verb, names)));
}

int RunVerb(const std::vector<std::string>& args, const Extensions& extensions) {
  if (args.empty()) {
    fmt::print(stderr, "{}", Help(Painter::For(stderr, ColorMode::kAuto)));
    return kExitUsage;
  }
  const std::string& verb = args.front();
  if (verb == "--help" || verb == "-h" || verb == "help") {
    fmt::print("{}", Help(Painter::For(stdout, ColorMode::kAuto)));
    return kExitDone;
  }
  if (verb == "--version") {
    fmt::print("{}", Version());
    return kExitDone;
  }
  for (const Command& command : Commands()) {
    if (command.name != verb) continue;
    const Catalog catalog(extensions);
    return command.run({args.begin() + 1, args.end()}, catalog);
  }
  RefuseVerb(verb);
}

/// What a parent ignores or blocks, its children ignore or block, too. Where SIGCHLD is ignored,
/// the kernel reaps children itself, and nobody learns how they have ended. An ignored SIGINT,
/// SIGTERM or SIGHUP stays ignored: `nohup` and a shell's `&` mean it.
void TakeBackSignals() {
  std::signal(SIGCHLD, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  // It fails for a number that is no action only.
  static_cast<void>(pthread_sigmask(SIG_SETMASK, &none, nullptr));
}

/// What a command has answered may be on its way. A result that was not written is a failure.
int AfterOutput(int code) {
  const std::string problem = FlushStandardOutput();
  if (problem.empty() || code != kExitDone) return code;
  fmt::print(stderr, "ringside: standard output could not be written: {}\n", problem);
  return kExitFailed;
}

}  // namespace

int Main(int argc, char** argv, const Extensions& extensions) {
  if (!OpenClosedStandardStreams()) return kExitFailed;  // there is nobody to tell
  // A write beyond the file size limit then fails with an error as any write(2) may, and does not
  // kill the process.
  std::signal(SIGXFSZ, SIG_IGN);
  TakeBackSignals();
  SayWhenMemoryRunsOut();
  try {
    return AfterOutput(RunVerb({argv + 1, argv + argc}, extensions));
  } catch (...) {
    return ReportCurrentException();
  }
}

}  // namespace ringside

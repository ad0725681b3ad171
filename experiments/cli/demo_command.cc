#include <fmt/format.h>
#include <spawn.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/cli/commands.h"
#include "ringside/experiments/cli/exit_codes.h"
#include "ringside/experiments/cli/options/option_set.h"
#include "ringside/experiments/demo/demo_page.h"
#include "ringside/experiments/demo/record_check.h"
#include "ringside/experiments/demo/record_facts.h"
#include "ringside/experiments/lab/emulation_support.h"
#include "ringside/experiments/system/environment/rank_environment.h"
#include "ringside/experiments/system/files/files.h"
#include "ringside/experiments/system/files/find_program.h"
#include "ringside/experiments/system/files/sudo_ownership_transfer.h"
#include "ringside/experiments/text/printable.h"
#include "ringside/experiments/text/units.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;

constexpr std::array<const char*, 2> kStrategies{"ring", "ps-sync"};

OptionSet DemoOptions() {
  OptionSet options("demo", "see a ring and a parameter server train, side by side, in a browser",
                    {{"ringside demo", "trains a small model twice, then opens the page"},
                     {"ringside demo results/train/ID", "a page of a run that --timeline recorded"},
                     {"ringside demo RUN RUN --steps 40", "two runs, from step 40 on"},
                     {"ringside demo --check RUN", "whether the record of a run can be true"}});
  options.TakePositional({"RUN", "the bundle of a recorded run; none: trains two runs", false});
  options.TakePositional({"RUN", "another one, to show beside it", false});
  options.AddGroup("Output");
  options.Add({"out", "DIR", "directory for the runs and the page of a demo", "results/demo"});
  options.Add(
      {"html", "FILE", "write the page there; empty: demo.html in --out, or in the bundle", ""});
  options.Add({"steps", "N", "the first step that the page shows; empty: after the warm-up", ""});
  options.Add({"check", "", "check the records and print what they add up to; make no page", ""});
  options.Add({"no-open", "", "only write the page, and print where it is", ""});
  return options;
}

/// What the two runs of the demo have in common. A step of the ring takes about 40 ms on these
/// links, one with a single server about 100 ms.
Arguments RunFlags(const char* strategy, const fs::path& bundle, bool emulated) {
  Arguments flags{"--strategy",  strategy,  "--workers",  "4",       "--model", "mlp",
                  "--hidden",    "256,256", "--data",     "digits",  "--steps", "20",
                  "--bucket-mb", "128KiB",  "--timeline", "--force", "--out",   bundle.string()};
  if (emulated) flags.insert(flags.end(), {"--network", "100Mbps"});
  return flags;
}

/// Trains with both strategies. Returns the exit code of the first run that failed, or 0.
int TrainBoth(const fs::path& out, const Catalog& catalog, std::vector<fs::path>& bundles) {
  const LabSupport lab = ProbeLab();
  const std::string why_not = lab.hosts.empty() ? lab.rates : lab.hosts;
  if (!why_not.empty()) {
    PrintText(stderr,
              "demo: links are not emulated here ({}); both runs use the loopback device, which is "
              "fast: look at the order of events, not at the times\n",
              why_not);
  }
  for (const char* strategy : kStrategies) {
    bundles.push_back(out / strategy);
    const Arguments flags = RunFlags(strategy, bundles.back(), why_not.empty());
    PrintText(stderr, "demo: ringside train {}\n", fmt::join(flags, " "));
    const int code = RunTrainCommand(flags, catalog);
    if (code != kExitDone) return code;
  }
  return kExitDone;
}

PageSteps StepsOf(const ParsedOptions& parsed) {
  PageSteps steps;
  if (const std::string& first = parsed.Get("steps"); !first.empty()) {
    try {
      steps.first = ParseInteger(first);
    } catch (const ConfigError& error) {
      throw UsageError(fmt::format("--steps: {}", error.what()));
    }
  }
  return steps;
}

void PrintNotes(const RecordedRun& run) {
  for (const std::string& note : run.notes) {
    PrintText(stderr, "{}: {}\n", run.directory.string(), note);
  }
}

void WritePage(const std::vector<fs::path>& bundles, const fs::path& page, const PageSteps& steps) {
  const std::vector<RecordedRun> runs = ReadRecordedRuns(bundles);
  for (const RecordedRun& run : runs) PrintNotes(run);
  const std::string text = RenderDemoPage(runs, steps);
  WriteFileAtomically(page.string(), text);
  if (const std::string advice = PageSizeAdvice(text); !advice.empty()) {
    PrintText(stderr, "{}: {}\n", page.string(), advice);
  }
}

/// Starts a browser, if this is a desktop; false: it is none.
bool OpenPage(const fs::path& page) {
  if (std::getenv("DISPLAY") == nullptr && std::getenv("WAYLAND_DISPLAY") == nullptr) return false;
  const std::string program = FindProgram("xdg-open");
  if (program.empty()) return false;
  std::string path = fs::absolute(page).string();
  std::array<char*, 3> argv{const_cast<char*>("xdg-open"), path.data(), nullptr};
  posix_spawnattr_t attributes;
  if (posix_spawnattr_init(&attributes) != 0) return false;
  // The browser outlives this program, and Ctrl-C does not reach it.
  pid_t pid = 0;
  const bool opened =
      posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID) == 0 &&
      posix_spawn(&pid, program.c_str(), nullptr, &attributes, argv.data(), environ) == 0;
  posix_spawnattr_destroy(&attributes);
  return opened;
}

/// When the last event of each node ended, and what its kernel counted.
void PrintEnds(const RecordedRun& run, const RecordCheck& check) {
  for (std::size_t node = 0; node < check.last_ns.size(); ++node) {
    if (check.last_ns[node] < 0) continue;
    std::string line =
        fmt::format("  {:<10} ends at {:.3f} ms", NodeName(static_cast<int>(node), run.workers()),
                    static_cast<double>(check.last_ns[node]) / 1e6);
    if (node < check.kernel_sent_by_worker.size() && check.kernel_sent_by_worker[node] >= 0) {
      line += fmt::format("; sent {} bytes of chunks, and the kernel counted {:.0f}",
                          check.sent_by_worker[node], check.kernel_sent_by_worker[node]);
    }
    PrintText(stdout, "{}\n", line);
  }
}

void PrintCheck(const RecordedRun& run, const RecordCheck& check) {
  PrintText(stdout, "{}: {} transfers, {} updates\n", run.directory.string(),
            run.traffic.transfers.size(), run.traffic.updates.size());
  for (std::size_t node = 0; node < check.nodes.size(); ++node) {
    for (const auto& [phase, traffic] : check.nodes[node]) {
      fmt::print(
          "  {:<10} {:<14}  sent {:>6} chunks {:>12} bytes  received {:>6} chunks {:>12} bytes\n",
          NodeName(static_cast<int>(node), run.workers()), ChunkPhaseName(phase),
          traffic.chunks_sent, traffic.bytes_sent, traffic.chunks_received, traffic.bytes_received);
    }
  }
  PrintEnds(run, check);
  for (const std::string& problem : check.problems) PrintText(stdout, "  WRONG: {}\n", problem);
  if (check.further_problems > 0) fmt::print("  and {} more\n", check.further_problems);
}

int CheckRuns(const std::vector<fs::path>& bundles) {
  bool wrong = false;
  for (const fs::path& bundle : bundles) {
    const RecordedRun run = ReadRecordedRun(bundle);
    PrintNotes(run);
    const RecordCheck check = CheckRecord(run);
    PrintCheck(run, check);
    wrong = wrong || !check.problems.empty();
  }
  return wrong ? kExitFailed : kExitDone;
}

fs::path PageOf(const ParsedOptions& parsed, const std::vector<fs::path>& given) {
  if (!parsed.Get("html").empty()) return parsed.Get("html");
  return (given.empty() ? fs::path(parsed.Get("out")) : given.back()) / "demo.html";
}

}  // namespace

int RunDemoCommand(const Arguments& args, const Catalog& catalog) {
  const OptionSet options = DemoOptions();
  const ParsedOptions parsed = options.Parse(args);
  if (parsed.help()) {
    fmt::print("{}", options.Help(Painter::For(stdout, parsed.color())));
    return kExitDone;
  }
  std::vector<fs::path> bundles(parsed.positionals().begin(), parsed.positionals().end());
  if (parsed.IsOn("check")) {
    if (bundles.empty()) throw UsageError("--check: name the bundles of recorded runs");
    for (const char* flag : {"steps", "html", "out"}) {
      if (parsed.Has(flag)) throw UsageError(fmt::format("--{}: --check makes no page", flag));
    }
    return CheckRuns(bundles);
  }
  const PageSteps steps = StepsOf(parsed);
  const fs::path page = PageOf(parsed, bundles);
  const SudoOwnershipTransfer ownership(page.parent_path(), CurrentEnvironment());
  if (bundles.empty()) {
    const int code = TrainBoth(parsed.Get("out"), catalog, bundles);
    if (code != kExitDone) return code;
  }
  WritePage(bundles, page, steps);
  PrintText(stdout, "{}\n", page.string());
  if (!parsed.IsOn("no-open") && !OpenPage(page)) {
    fmt::print(stderr, "open this page in a browser\n");
  }
  return kExitDone;
}

}  // namespace ringside

#include "ringside/experiments/job/launcher/recovery.h"

#include <fmt/format.h>
#include <stdio.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <exception>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/checkpoint/checkpoint_folder.h"
#include "ringside/experiments/job/coordinator/member.h"
#include "ringside/experiments/job/summary/summary.h"
#include "ringside/experiments/spec/resolve/resolve.h"
#include "ringside/experiments/spec/server_layout.h"
#include "ringside/experiments/system/files/trusted_path.h"
#include "ringside/experiments/system/output/console.h"
#include "ringside/experiments/system/processes/signal_watch.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Clock = std::chrono::steady_clock;

/// Moves what a generation wrote out of the way of the next one.
void MoveAside(const std::string& bundle, int generation) {
  const std::string to = fmt::format("{}/generations/{}", bundle, generation);
  MakeDirectories(to);
  for (const auto& entry : fs::directory_iterator(bundle)) {
    const std::string name = entry.path().filename().string();
    const bool written_by_generation = name.starts_with("metrics") || name.starts_with("trace") ||
                                       name == "logs" || name == "processes.json" ||
                                       name == "network.json";
    if (!written_by_generation) continue;
    const auto [from_directory, from_name] = FindTrustedPlace(entry.path().string());
    const auto [to_directory, to_name] = FindTrustedPlace(fmt::format("{}/{}", to, name));
    if (::renameat(from_directory.get(), from_name.c_str(), to_directory.get(), to_name.c_str()) !=
        0) {
      throw DataError(entry.path().string(),
                      fmt::format("cannot be moved to {}: {}", to, std::strerror(errno)));
    }
  }
}

/// The checkpoints of a folder, and when each was written. Empty without a folder.
std::map<std::int64_t, fs::file_time_type> WrittenAt(const std::string& folder) {
  std::map<std::int64_t, fs::file_time_type> written;
  std::error_code unreadable;  // has no checkpoints then
  if (!fs::is_directory(folder, unreadable)) return written;
  for (const std::int64_t step : CheckpointSteps(folder)) {
    written[step] = fs::last_write_time(CheckpointPath(folder, step), unreadable);
  }
  return written;
}

/// A value of its summary; null without one.
json OfSummary(const JobOutcome& outcome, const char* key) {
  return outcome.summary.is_object() ? outcome.summary.value(key, json()) : json();
}

/// Whether servers take each worker's gradients as an update of its own.
bool UpdatesAlone(const RunSpec& spec) { return spec.servers > 0 && !StepsTogether(spec); }

/// Whether it failed because of a server with a process of its own. The loss of a co-located one is
/// that of its worker.
bool LostServer(const RunSpec& spec, const JobOutcome& outcome) {
  const json failure = OfSummary(outcome, "failure");
  const json member = failure.is_object() ? failure.value("member", json()) : json();
  for (int server = 0; server < LayoutServers(spec).dedicated; ++server) {
    for (const Role role : {Role::kServer, Role::kServerAgent}) {
      if (member == MemberName({role, server})) return true;
    }
  }
  return false;
}

/// The spec of the generation after one with `spec` that ended with `outcome`; nothing if there is
/// none.
std::optional<RunSpec> NextSpec(const RunSpec& spec, OnFailure on_failure,
                                const JobOutcome& outcome) {
  if (!IsRecoverable(outcome)) return std::nullopt;
  if (on_failure == OnFailure::kRestart || LostServer(spec, outcome)) return spec;
  try {
    return Shrunk(spec);
  } catch (const ConfigError&) {
    return std::nullopt;
  }
}

class Recovery {
 public:
  Recovery(const RunSpec& spec, const JobOptions& options, const GenerationFunction& run)
      : spec_(spec),
        asked_(spec),
        options_(options),
        last_follows_(options.another_follows),
        run_(run),
        found_(WrittenAt(CheckpointsDir())),
        own_console_(Console::ForStandardError(options.show_progress)),
        console_(options.console != nullptr ? *options.console : own_console_) {}

  JobOutcome Run() {
    JobOutcome outcome = RunOneGeneration();
    while (std::optional<RunSpec> next = Next(outcome)) {
      try {
        PrepareNext(outcome, std::move(*next));
        outcome = RunOneGeneration();
      } catch (const std::exception& error) {
        return NoMoreAfter(std::move(outcome), error.what());
      }
    }
    return outcome;
  }

 private:
  static double Seconds(Clock::duration duration) {
    return std::chrono::duration<double>(duration).count();
  }

  std::string CheckpointsDir() const { return options_.bundle_dir + "/checkpoints"; }

  bool IsLast() const { return options_.generation >= options_.recovery.max_restarts; }

  std::optional<RunSpec> Next(const JobOutcome& outcome) const {
    if (IsLast()) return std::nullopt;
    return NextSpec(spec_, options_.recovery.on_failure, outcome);
  }

  /// Whether a checkpoint is there that was not, or was written again. The first save removes
  /// newer ones before it, which tells nothing of those that stay.
  bool HasSaved() const {
    const auto now = WrittenAt(CheckpointsDir());
    return std::ranges::any_of(now, [this](const auto& checkpoint) {
      const auto before = found_.find(checkpoint.first);
      return before == found_.end() || before->second != checkpoint.second;
    });
  }

  JobOutcome RunOneGeneration() {
    options_.another_follows = last_follows_;
    if (!IsLast()) {
      options_.another_follows = [spec = spec_, on_failure = options_.recovery.on_failure,
                                  last_follows = last_follows_](const JobOutcome& outcome) {
        return NextSpec(spec, on_failure, outcome) || (last_follows && last_follows(outcome));
      };
    }
    begin_ = Clock::now();
    return run_(spec_, options_);
  }

  void PrepareNext(const JobOutcome& outcome, RunSpec next) {
    options_.origin.generations.push_back({.workers = spec_.workers,
                                           .steps = outcome.steps,
                                           .updates_alone = UpdatesAlone(spec_),
                                           .seconds = Seconds(Clock::now() - begin_),
                                           .error = outcome.error,
                                           .failure = OfSummary(outcome, "failure"),
                                           .last_words = OfSummary(outcome, "last_words")});
    const FailedGeneration& failed = options_.origin.generations.back();
    MoveAside(options_.bundle_dir, options_.generation);
    options_.time_used_s += failed.seconds;
    ++options_.generation;
    // The run may have gone back to an older checkpoint. Until its first save there are newer ones.
    options_.resume = HasSaved() ? FindCheckpointFolder(CheckpointsDir()) : "";
    spec_ = std::move(next);
    options_.origin.asked = asked_;
    console_.EndProgress();
    console_.Print(fmt::format("{}; {} workers start again from {} (restart {} of {})",
                               failed.error, spec_.workers,
                               !options_.resume.empty() ? "the newest checkpoint"
                               : spec_.resume.empty()   ? "the beginning of the run"
                                                        : "where the run began",
                               options_.generation, options_.recovery.max_restarts));
  }

  /// The outcome of a run whose next generation cannot begin: that of the last one, with both
  /// reasons.
  JobOutcome NoMoreAfter(JobOutcome outcome, const std::string& why) {
    outcome.error += "; the run cannot start again: " + why;
    options_.origin.generations.pop_back();  // the summary is its own
    options_.origin.asked = asked_;
    if (!outcome.summary.is_object()) outcome.summary = json::object();
    outcome.summary["error"] = outcome.error;
    options_.origin.AddTo(outcome.summary, outcome.steps.first);
    if (last_follows_ && last_follows_(outcome)) return outcome;
    try {
      WriteSummary(options_.bundle_dir, outcome.summary);
    } catch (const Error& error) {
      outcome.failure.reset();
      outcome.error += std::string("; ") + error.what();
    }
    return outcome;
  }

  const SignalWatch signals_;  // a signal between two generations stays for the next one
  RunSpec spec_;
  const RunSpec asked_;
  JobOptions options_;
  const std::function<bool(const JobOutcome&)> last_follows_;
  Clock::time_point begin_;  // of the generation under way
  const GenerationFunction& run_;
  const std::map<std::int64_t, fs::file_time_type> found_;  // before the run
  Console own_console_;
  Console& console_;
};

}  // namespace

RunSpec Shrunk(const RunSpec& spec) {
  if (spec.workers < 2) throw ConfigError("there is no worker that could be left out");
  if (spec.scale_lr_with_workers) {
    throw ConfigError("the learning rate follows the number of workers");
  }
  RunSpec shrunk = spec;
  --shrunk.workers;
  const bool one_in_each = spec.colocated && spec.servers == spec.workers;
  if (one_in_each || spec.servers_as_workers) shrunk.servers = shrunk.workers;
  shrunk.global_batch = spec.ResolvedGlobalBatch();
  shrunk.batch_per_worker = 0;
  return ResolveForAnotherMachine(std::move(shrunk));  // its files and backends were there
}

JobOutcome RunWithRecovery(const RunSpec& spec, const JobOptions& options,
                           const GenerationFunction& run) {
  if (options.recovery.on_failure == OnFailure::kShrink) {
    try {
      Shrunk(spec);
    } catch (const ConfigError& error) {
      throw ConfigError(std::string("this run cannot shrink: ") + error.what());
    }
  }
  return Recovery(spec, options, run).Run();
}

}  // namespace ringside

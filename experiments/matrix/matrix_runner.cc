#include "ringside/experiments/matrix/matrix_runner.h"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/matrix/directory_lock.h"
#include "ringside/experiments/matrix/journal.h"
#include "ringside/experiments/spec/bundle.h"
#include "ringside/experiments/store/run_index.h"
#include "ringside/experiments/system/files/files.h"
#include "ringside/experiments/system/files/trusted_path.h"
#include "ringside/experiments/text/units.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Clock = std::chrono::steady_clock;

// Writes the bundle of a run that could not start. It looks like that of a run that failed later.
void RecordFailure(const PlannedRun& run, const JobOptions& options, FailureKind kind,
                   const std::string& error) {
  const fs::path bundle = options.bundle_dir;
  MakeDirectories(bundle.string());
  WriteFileAtomically((bundle / kSpecFile).string(), json(run.spec).dump(2) + "\n");
  json summary{{"schema", "ringside.summary/1"},
               {"run_id", run.id},
               {"strategy", run.spec.strategy},
               {"model", run.spec.model},
               {"dataset", run.spec.data},
               {"workers", run.spec.workers},
               {"servers", run.spec.servers},
               {"seed", run.spec.seed},
               {"repetition", run.spec.repetition},
               {"status", JobStatusName(JobStatus::kFailed)},
               {"error", error},
               {"failure", FailureRecord(kind, "", 0)}};
  options.origin.AddTo(summary, std::nullopt);
  WriteFileAtomically((bundle / kSummaryFile).string(), summary.dump(2) + "\n");
}

double SecondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

std::string TimeLeft(double spent, std::size_t finished, std::size_t all) {
  const double left = spent / static_cast<double>(finished) * static_cast<double>(all - finished);
  return finished == all ? "" : ", " + FormatSeconds(left) + " left";
}

// Selects the runs to carry out. Throws before it changes anything.
std::vector<PlannedRun> Select(const std::vector<PlannedRun>& runs, const fs::path& directory,
                               ExistingRunPolicy existing, MatrixListener& listener) {
  std::vector<PlannedRun> selected;
  std::vector<std::pair<const PlannedRun*, std::string>> skipped;
  for (const PlannedRun& run : runs) {
    RefuseNewerBundle(directory / run.id);
    const auto status = BundleStatus(directory / run.id);
    if (!status || ShouldRun(existing, status)) {
      selected.push_back(run);
    } else {
      skipped.emplace_back(&run, *status);
    }
  }
  if (existing == ExistingRunPolicy::kRefuse && !skipped.empty()) {
    throw UsageError(
        fmt::format("{} holds {} finished runs of this matrix; give --resume to skip them, "
                    "--retry-failed to run the failed ones again, or --force to run all again",
                    directory.string(), skipped.size()));
  }
  for (const auto& [run, status] : skipped) listener.Skipped(*run, status);
  return selected;
}

// Removes temporary files that a killed writer left before the rename: "matrix.yaml.tmp4711".
void RemoveHalfWritten(const fs::path& directory) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::directory_iterator(directory)) {
    const std::string name = entry.path().filename().string();
    const std::size_t mark = name.rfind(".tmp");
    if (mark == std::string::npos || mark + 4 == name.size() || !entry.is_regular_file()) continue;
    if (name.find_first_not_of("0123456789", mark + 4) == std::string::npos) {
      found.push_back(entry.path());
    }
  }
  for (const fs::path& path : found) RemoveFile(path.string());
}

/// One call of `RunMatrix` that holds the lock on its directory.
class Runner {
 public:
  Runner(const MatrixSpec& spec, const fs::path& directory, const JobOptions& job,
         const RunFunction& run, MatrixListener& listener)
      : spec_(spec),
        directory_(directory),
        job_(job),
        run_(run),
        listener_(listener),
        index_(RunIndex::Open(directory)),
        journal_(directory) {}

  /// Updates journal and index from the bundles.
  void BringUpToDate(const std::vector<PlannedRun>& runs) {
    RemoveHalfWritten(directory_);
    journal_.TruncatePartialLine();
    const BundleScan scan = RebuildIndex(index_, directory_);
    std::map<std::string, std::string> journaled;  // the last status by run
    for (const JournalLine& line : journal_.Read()) journaled[line.run_id] = line.status;
    for (const PlannedRun& run : runs) {
      const auto row = std::ranges::find(scan.rows, run.id, &RunRow::path);
      if (row == scan.rows.end() || json(journaled[run.id]) == row->Value("status")) continue;
      const json& wall = row->Value("wall_seconds");
      JournalLine line =
          MakeJournalLine(run, row->Value("status"), wall.is_null() ? 0 : wall.get<double>());
      line.recovered = true;
      journal_.Append(line);
    }
  }

  MatrixRunCounts Run(const std::vector<PlannedRun>& selected) {
    TellOrphans(selected);
    const auto begin = Clock::now();
    for (std::size_t i = 0; i < selected.size() && !IsInterrupted(); ++i) {
      const PlannedRun& planned = selected[i];
      const auto run_begin = Clock::now();
      listener_.Started(planned);
      const JobOutcome outcome = RunWithRetries(planned);
      const double seconds = Record(planned, outcome, run_begin);
      // The C library keeps what the threads of a run have freed, in one of its many heaps each. It
      // would grow by some KiB with every run.
      ::malloc_trim(0);
      const std::string_view limit = LimitOf(outcome.summary);
      listener_.ShowLine(
          fmt::format("[{}/{}] {}: {}{} in {}{}", i + 1, selected.size(), planned.label,
                      StatusText(JobStatusName(outcome.status), outcome.error),
                      limit.empty() ? "" : fmt::format(", {},", limit), FormatSeconds(seconds),
                      TimeLeft(SecondsSince(begin), i + 1, selected.size())));
    }
    return tally_;
  }

 private:
  bool IsInterrupted() {
    if (listener_.Interrupted()) tally_.interrupted = true;
    return tally_.interrupted;
  }

  bool IsOrphaned(const PlannedRun& run) const {
    return fs::exists(directory_ / run.id) && !BundleStatus(directory_ / run.id);
  }

  void TellOrphans(const std::vector<PlannedRun>& selected) const {
    const auto count =
        std::ranges::count_if(selected, [&](const PlannedRun& run) { return IsOrphaned(run); });
    if (count == 0) return;
    listener_.ShowLine(
        fmt::format("orphaned: {} {} left unfinished when an earlier matrix died or could not "
                    "write; carried out again from the start",
                    count, count == 1 ? "run was" : "runs were"));
  }

  JobOutcome RunWithRetries(const PlannedRun& planned) {
    JobOptions options = job_;
    options.bundle_dir = (directory_ / planned.id).string();
    if (spec_.time_limit_s > 0) options.time_limit_s = spec_.time_limit_s;
    if (IsOrphaned(planned)) {
      options.origin.earlier.emplace_back(
          "orphaned: left unfinished by a process that died or could not write");
    }
    if (spec_.retries > 0) options.another_follows = IsRetryable;
    JobOutcome outcome = RunOnce(planned, options);
    for (attempts_ = 1; attempts_ <= spec_.retries && IsRetryable(outcome); ++attempts_) {
      listener_.ShowLine(fmt::format("{}: {}; attempt {} of {}", planned.label,
                                     StatusText("failed", outcome.error), attempts_ + 1,
                                     spec_.retries + 1));
      options.origin.earlier.push_back(outcome.error);
      if (attempts_ >= spec_.retries) options.another_follows = nullptr;
      ++tally_.retried;
      outcome = RunOnce(planned, options);
    }
    return outcome;
  }

  JobOutcome RunOnce(const PlannedRun& planned, const JobOptions& options) {
    // Files of an earlier attempt must not count as results of this run.
    if (fs::exists(options.bundle_dir)) {
      if (BundleStatus(options.bundle_dir)) index_.Remove(planned.id);
      RemoveBundle(options.bundle_dir);
    }
    JobOutcome outcome;
    try {
      outcome = run_(planned.spec, options);
    } catch (const DataError& error) {
      // During a run, this process reads and writes only the bundle.
      Stop(options, error.what());
    } catch (const Error&) {
      outcome.status = JobStatus::kFailed;
      FailureReason reason = ReasonOfCurrentException();
      outcome.failure = reason.kind;
      outcome.error = std::move(reason.message);
      if (!IsTriedAgain(outcome, options)) TryToRecordFailure(planned, options, outcome);
    }
    if (!BundleStatus(options.bundle_dir) && !IsTriedAgain(outcome, options)) {
      Stop(options, outcome.error);
    }
    return outcome;
  }

  // Whether another attempt follows. The bundle stays unfinished, so a kill now repeats the run.
  static bool IsTriedAgain(const JobOutcome& outcome, const JobOptions& options) {
    return options.another_follows && options.another_follows(outcome);
  }

  static void TryToRecordFailure(const PlannedRun& planned, const JobOptions& options,
                                 const JobOutcome& outcome) {
    try {
      RecordFailure(planned, options, outcome.failure.value_or(FailureKind::kInternal),
                    outcome.error);
    } catch (const Error& error) {
      Stop(options, error.what());
    }
  }

  [[noreturn]] static void Stop(const JobOptions& options, const std::string& reason) {
    throw Error(
        fmt::format("{}: its results cannot be written, so the matrix stops: {}; what is "
                    "finished is kept, --resume goes on",
                    options.bundle_dir, reason));
  }

  double Record(const PlannedRun& planned, const JobOutcome& outcome, Clock::time_point begin) {
    index_.Put(ReadRunRow(directory_, planned.id));
    const double seconds = SecondsSince(begin);
    JournalLine line = MakeJournalLine(planned, JobStatusName(outcome.status), seconds);
    line.attempts = attempts_;
    if (outcome.failure) line.failure = FailureKindName(*outcome.failure);
    journal_.Append(line);
    listener_.Ended(planned, outcome);
    if (outcome.stop_requested) tally_.interrupted = true;
    if (outcome.status == JobStatus::kInterrupted) {
      tally_.interrupted = true;
    } else {
      ++(outcome.status == JobStatus::kDone ? tally_.done : tally_.failed);
      if (!LimitOf(outcome.summary).empty()) ++tally_.limited;
    }
    return seconds;
  }

  const MatrixSpec& spec_;
  const fs::path& directory_;
  const JobOptions& job_;
  const RunFunction& run_;
  MatrixListener& listener_;
  RunIndex index_;
  const Journal journal_;
  MatrixRunCounts tally_;
  int attempts_ = 1;  // of the current run
};

}  // namespace

MatrixRunCounts RunMatrix(const MatrixSpec& spec, const std::vector<PlannedRun>& runs,
                          const fs::path& directory, ExistingRunPolicy existing,
                          const JobOptions& job, const RunFunction& run, MatrixListener& listener) {
  const DirectoryLock lock(directory);
  const std::vector<PlannedRun> selected = Select(runs, directory, existing, listener);
  Runner runner(spec, directory, job, run, listener);
  runner.BringUpToDate(runs);
  WriteFileAtomically((directory / "matrix.yaml").string(), spec.text);
  const auto skipped = static_cast<int>(runs.size() - selected.size());
  if (skipped > 0) listener.ShowLine(fmt::format("{} finished runs skipped", skipped));
  MatrixRunCounts tally = runner.Run(selected);
  tally.skipped = skipped;
  return tally;
}

}  // namespace ringside

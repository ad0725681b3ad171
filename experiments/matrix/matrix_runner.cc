#include "experiments/matrix/matrix_runner.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/errors.h"
#include "experiments/bundle.h"
#include "experiments/units.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr char kJournalFile[] = "journal.jsonl";

struct Timed {
  std::string kind;  // strategy and workers
  double seconds;
};

std::string KindOf(const RunSpec& spec) {
  return fmt::format("{}/{}", spec.strategy, spec.workers);
}

double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

std::vector<Timed> ReadJournal(const fs::path& directory) {
  std::vector<Timed> timed;
  std::ifstream in(directory / kJournalFile);
  for (std::string line; std::getline(in, line);) {
    const json entry = json::parse(line, nullptr, false);
    // A line cut short by a kill is no news.
    if (!entry.is_object() || entry.value("status", "") != "done") continue;
    timed.push_back({entry.value("kind", ""), entry.value("seconds", 0.0)});
  }
  return timed;
}

void Journal(const fs::path& directory, const PlannedRun& run, const std::string& status,
             double seconds) {
  const json entry{{"run_id", run.id},
                   {"label", run.label},
                   {"kind", KindOf(run.spec)},
                   {"status", status},
                   {"seconds", seconds}};
  std::ofstream(directory / kJournalFile, std::ios::app) << entry.dump() << '\n';
}

// A run that could not even start leaves the same kind of bundle as one that failed on its way.
void RecordFailure(const PlannedRun& run, const fs::path& bundle, const std::string& error) {
  fs::create_directories(bundle);
  WriteFileAtomically((bundle / kSpecFile).string(), json(run.spec).dump(2) + "\n");
  const json summary{{"schema", "ringside.summary/1"},
                     {"run_id", run.id},
                     {"strategy", run.spec.strategy},
                     {"model", run.spec.model},
                     {"dataset", run.spec.data},
                     {"workers", run.spec.workers},
                     {"servers", run.spec.servers},
                     {"seed", run.spec.seed},
                     {"repetition", run.spec.repetition},
                     {"status", JobStatusName(JobStatus::kFailed)},
                     {"error", error}};
  WriteFileAtomically((bundle / kSummaryFile).string(), summary.dump(2) + "\n");
}

JobOutcome RunOne(const PlannedRun& run, const JobOptions& options, const RunFunction& carry_out) {
  JobOutcome outcome;
  // What an earlier, unfinished or unwanted attempt left must not be taken for this run's.
  fs::remove_all(options.bundle_dir);
  try {
    outcome = carry_out(run.spec, options);
  } catch (const Error& error) {
    outcome.status = JobStatus::kFailed;
    outcome.error = error.what();
    RecordFailure(run, options.bundle_dir, outcome.error);
  }
  return outcome;
}

// The runs to carry out. Refuses before anything is touched.
std::vector<PlannedRun> Select(const std::vector<PlannedRun>& runs, const fs::path& directory,
                               Existing existing) {
  std::vector<PlannedRun> selected;
  for (const PlannedRun& run : runs) {
    if (ShouldRun(existing, BundleStatus(directory / run.id))) selected.push_back(run);
  }
  if (existing == Existing::kRefuse && selected.size() < runs.size()) {
    throw UsageError(
        fmt::format("{} holds {} finished runs of this matrix; give --resume to skip them, "
                    "--retry-failed to run the failed ones again, or --force to run all again",
                    directory.string(), runs.size() - selected.size()));
  }
  return selected;
}

double SecondsSince(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

std::string TimeLeft(double spent, std::size_t finished, std::size_t all) {
  const double left = spent / static_cast<double>(finished) * static_cast<double>(all - finished);
  return finished == all ? "" : ", " + FormatSeconds(left) + " left";
}

}  // namespace

DirectoryLock::DirectoryLock(const fs::path& directory) {
  MakeDirectories(directory.string());
  const std::string path = (directory / ".lock").string();
  file_ = FileDescriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644));
  if (file_.get() < 0) throw Error(path + ": cannot be opened");
  if (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0) {
    throw Error(fmt::format("another matrix is writing into {}", directory.string()));
  }
}

MatrixTally RunMatrix(const MatrixSpec& spec, const std::vector<PlannedRun>& runs,
                      const fs::path& directory, Existing existing, const JobOptions& job,
                      const RunFunction& run, const SayFunction& say) {
  const DirectoryLock lock(directory);
  const std::vector<PlannedRun> selected = Select(runs, directory, existing);
  WriteFileAtomically((directory / "matrix.yaml").string(), spec.text);

  MatrixTally tally;
  tally.skipped = static_cast<int>(runs.size() - selected.size());
  if (tally.skipped > 0) say(fmt::format("{} finished runs skipped", tally.skipped));
  const auto begin = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < selected.size(); ++i) {
    const PlannedRun& planned = selected[i];
    JobOptions options = job;
    options.bundle_dir = (directory / planned.id).string();
    if (spec.time_limit_s > 0) options.time_limit_s = spec.time_limit_s;
    const auto run_begin = std::chrono::steady_clock::now();
    const JobOutcome outcome = RunOne(planned, options, run);
    const double seconds = SecondsSince(run_begin);
    const std::string status = JobStatusName(outcome.status);
    Journal(directory, planned, status, seconds);
    say(fmt::format("[{}/{}] {}: {} in {}{}", i + 1, selected.size(), planned.label,
                    StatusText(status, outcome.error), FormatSeconds(seconds),
                    TimeLeft(SecondsSince(begin), i + 1, selected.size())));
    if (outcome.status == JobStatus::kInterrupted) {
      tally.interrupted = true;
      break;
    }
    ++(outcome.status == JobStatus::kDone ? tally.done : tally.failed);
  }
  return tally;
}

std::optional<double> EstimateSeconds(const std::vector<PlannedRun>& runs,
                                      const fs::path& directory) {
  std::map<std::string, std::vector<double>> by_kind;
  std::vector<double> all;
  for (const Timed& timed : ReadJournal(directory)) {
    by_kind[timed.kind].push_back(timed.seconds);
    all.push_back(timed.seconds);
  }
  if (all.empty()) return std::nullopt;
  double seconds = 0;
  for (const PlannedRun& run : runs) {
    const auto found = by_kind.find(KindOf(run.spec));
    seconds += Median(found == by_kind.end() ? all : found->second);
  }
  return seconds;
}

}  // namespace ringside

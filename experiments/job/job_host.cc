#include "experiments/job/job_host.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "common/errors.h"
#include "experiments/bundle.h"
#include "experiments/job/environment_record.h"
#include "experiments/job/files.h"
#include "experiments/job/timeline_files.h"
#include "experiments/server_layout.h"

namespace ringside {
namespace {

constexpr std::chrono::milliseconds kTick{20};
// A round takes little more than a tick unless this process was stopped.
constexpr std::chrono::milliseconds kOwnPause{2'000};
constexpr std::chrono::milliseconds kTermGrace{2'000};
constexpr std::chrono::milliseconds kAgentGrace{3'000};
// After a first failure that may be the consequence of another, how long to wait for that one.
constexpr std::chrono::milliseconds kCertainGrace{50};
constexpr std::chrono::milliseconds kTypedGrace{200};
constexpr std::chrono::milliseconds kCommGrace{1'000};

std::string UtcNow() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

std::chrono::milliseconds Grace(FailureKind kind) {
  switch (kind) {
    case FailureKind::kSignal:
    case FailureKind::kEarlyExit:
    case FailureKind::kLost:
      return kCertainGrace;
    case FailureKind::kComm:
      return kCommGrace;
    default:
      return kTypedGrace;
  }
}

/// Names of files may hold any bytes; JSON may not.
std::string Text(const nlohmann::json& json, int indent = -1) {
  return json.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string Prepared(const std::string& directory) {
  MakeDirectories(directory + "/logs");
  return directory;
}

}  // namespace

JobHost::JobHost(const RunSpec& spec, const JobOptions& options, HostPlan plan,
                 const Environment& environment)
    : spec_(spec),
      options_(options),
      environment_(environment),
      plan_(std::move(plan)),
      begin_(plan_.begin),
      started_(UtcNow()),
      board_({.workers = spec.workers,
              .servers = LayoutServers(spec).dedicated,
              .spec_hash = SpecHash(spec)}),
      coordinator_(std::make_unique<Coordinator>(board_, plan_.coordinator)),
      own_console_(Console::ForStandardError(options.show_progress)),
      console_(options.console != nullptr ? *options.console : own_console_),
      metrics_(Prepared(options.bundle_dir), spec.workers),
      children_({options.bundle_dir + "/logs", options.echo_logs}, console_),
      workers_(static_cast<std::size_t>(spec.workers)) {
  PrepareBundle();
}

JobHost::~JobHost() = default;

void JobHost::PrepareBundle() const {
  WriteFileAtomically(options_.bundle_dir + "/" + kSpecFile, Text(spec_, 2) + "\n");
  WriteFileAtomically(options_.bundle_dir + "/environment.json",
                      Text(EnvironmentRecord(environment_), 2) + "\n");
  if (plan_.network == nullptr) return;
  WriteFileAtomically(options_.bundle_dir + "/network.json",
                      Text(plan_.network->record(), 2) + "\n");
}

JobOutcome JobHost::Run() {
  try {
    if (plan_.interrupted) {
      Decide(JobStatus::kInterrupted, "interrupted: stopped while its network was being built");
    } else {
      WarnOfLinks();
      StartMembers();
      Watch();
    }
  } catch (const MissingBackendError& error) {
    Decide(JobStatus::kFailed, error.what(), FailureKind::kMissingBackend);
  } catch (const std::exception& error) {
    Decide(JobStatus::kFailed, error.what());
  }
  EndAll();
  return Finish();
}

void JobHost::WarnOfLinks() {
  // Null: no link could be judged.
  if (plan_.network == nullptr || plan_.network->record().at("ok") != false) return;
  console_.Print("warning: not all links carry what was asked for; see " + options_.bundle_dir +
                 "/network.json");
}

void JobHost::StartMembers() {
  members_begin_ = Clock::now();
  nlohmann::json processes = nlohmann::json::array();
  for (MemberSetup setup : plan_.local) {
    setup.coordinator = coordinator_->target();
    setup.token = plan_.coordinator.token;
    children_.Start(setup, plan_.network ? plan_.network->NamespaceOf(setup.who) : -1);
  }
  if (plan_.mpirun) {
    MemberSetup setup = *plan_.mpirun;
    setup.coordinator = coordinator_->target();
    setup.token = plan_.coordinator.token;
    starter_ = std::make_unique<RankStarter>(
        setup, environment_, ChildGroup::Options{options_.bundle_dir + "/logs", options_.echo_logs},
        console_);
    processes.push_back({{"name", "mpirun"}, {"pid", starter_->pid()}});
  }
  for (const auto& [who, pid] : children_.started()) {
    processes.push_back({{"name", MemberName(who)}, {"pid", pid}});
  }
  WriteFileAtomically(options_.bundle_dir + "/processes.json", Text(processes, 2) + "\n");
}

void JobHost::Watch() {
  while (!status_) {
    children_.Poll(kTick, plan_.signals->fd());
    ForgiveOwnPause();
    TakeRows();
    TakeSignals();
    TakeEnds();
    WatchStarter();
    TakeLost();
    TakeMissing();
    if (FailureDecided()) {
      DecideFailed(Culprit(board_.failures()));
    } else if (board_.Complete() && children_.all_ended() && board_.failures().empty()) {
      DecideComplete();
    } else if (options_.time_limit_s > 0 &&
               Clock::now() - begin_ > std::chrono::duration<double>(options_.time_limit_s)) {
      Decide(JobStatus::kTimedOut,
             fmt::format("the run took longer than its limit of {} s", options_.time_limit_s));
    }
    ShowProgress();
  }
}

void JobHost::ForgiveOwnPause() {
  const Clock::time_point now = Clock::now();
  if (now - last_round_ > kOwnPause) board_.RenewLeases();
  last_round_ = now;
}

void JobHost::Decide(JobStatus status, const std::string& error, std::optional<FailureKind> kind) {
  if (status_) return;
  status_ = status;
  error_ = error;
  failure_ = kind;
}

void JobHost::DecideFailed(const Failure& culprit) {
  const bool diverged = culprit.kind == FailureKind::kDiverged;
  Decide(diverged ? JobStatus::kDiverged : JobStatus::kFailed, culprit.Text(), culprit.kind);
}

void JobHost::DecideComplete() {
  bool completed = true;
  for (int rank = 0; rank < spec_.workers; ++rank) {
    const auto record = board_.Record({Role::kWorker, rank});
    completed = completed && nlohmann::json::parse(record->report).at("completed").get<bool>();
  }
  if (completed) {
    Decide(JobStatus::kDone, "");
  } else {
    Decide(JobStatus::kInterrupted, "interrupted: stopped after a common last step");
  }
}

void JobHost::TakeSignals() {
  int count = plan_.signals->Take();
  if (count > 0 && !drain_) {
    drain_ = true;
    --count;
    board_.RequestDrain();
    const auto patience =
        std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(spec_.timeout_s));
    drain_end_ = Clock::now() + patience;
    console_.Print("stopping after the current step; once more to kill");
  }
  if (count > 0) {
    Decide(JobStatus::kInterrupted, "interrupted: killed before all workers had stopped");
  } else if (drain_ && Clock::now() > drain_end_) {
    Decide(JobStatus::kInterrupted,
           fmt::format("interrupted: the workers did not stop within {} s", spec_.timeout_s));
  }
}

void JobHost::TakeEnds() {
  for (const auto& [who, pid, end] : children_.TakeEnds()) {
    const bool handed_in = board_.HasLeft(who) && board_.HandedIn(who);
    if (end.signal == 0 && end.code == 0 && handed_in) continue;
    const auto failures = board_.failures();
    const bool told = std::ranges::find(failures, who, &Failure::who) != failures.end();
    if (end.signal == 0 && told) continue;
    board_.AddFailure({who, end.signal != 0 ? FailureKind::kSignal : FailureKind::kEarlyExit,
                       fmt::format("(pid {}) {}{}", pid, end.Text(),
                                   handed_in ? " after it handed in its result"
                                             : " before it handed in a result")});
  }
}

// Its agents tell what becomes of the workers: it is to blame only when they had no chance to.
void JobHost::WatchStarter() {
  if (starter_ == nullptr) return;
  if (board_.Missing().empty()) starter_->RemoveSetup();
  if (!starter_->Poll()) return;
  if (board_.Complete() || !board_.failures().empty()) return;
  Decide(JobStatus::kFailed,
         fmt::format("mpirun (pid {}) {} while the workers were under way; what it said is in {}",
                     starter_->pid(), starter_->Poll()->Text(),
                     options_.bundle_dir + "/logs/mpirun.log"));
}

void JobHost::TakeLost() {
  for (const Member& who : board_.Lost()) {
    if (std::ranges::find(reported_lost_, who) != reported_lost_.end()) continue;
    reported_lost_.push_back(who);
    const auto record = board_.Record(who);
    board_.AddFailure(
        {who, FailureKind::kLost,
         fmt::format("(pid {} on {}) is lost: no heartbeat for 5 s", record->pid, record->host)});
  }
}

void JobHost::TakeMissing() {
  if (Clock::now() - members_begin_ < plan_.join_timeout) return;
  for (const Member& who : board_.Missing()) {
    if (std::ranges::find(reported_lost_, who) != reported_lost_.end()) continue;
    reported_lost_.push_back(who);
    board_.AddFailure({who, FailureKind::kLost,
                       fmt::format("did not join within {} s",
                                   std::chrono::duration<double>(plan_.join_timeout).count())});
  }
}

void JobHost::TakeRows() {
  for (int rank = 0; rank < spec_.workers; ++rank) {
    const Beat rows = board_.TakeRows({Role::kWorker, rank});
    if (rows.steps.empty() && rows.evaluations.empty()) continue;
    if (!startup_seconds_) {
      startup_seconds_ = std::chrono::duration<double>(Clock::now() - begin_).count();
    }
    KeepRows(rank, rows);
    progress_.Add(rank, rows.steps);
    auto& steps = workers_[static_cast<std::size_t>(rank)].steps;
    steps.insert(steps.end(), rows.steps.begin(), rows.steps.end());
    if (!rows.evaluations.empty()) evaluation_ = rows.evaluations.back();
  }
}

void JobHost::KeepRows(int rank, const Beat& rows) {
  if (!storage_error_.empty()) return;
  try {
    metrics_.Add(rank, rows.steps, rows.evaluations);
  } catch (const DataError& error) {
    storage_error_ = error.what();
    Decide(JobStatus::kFailed, storage_error_);
  }
}

bool JobHost::FailureDecided() {
  const auto failures = board_.failures();
  if (failures.empty()) return false;
  const Clock::time_point now = Clock::now();
  const Clock::time_point at = now + Grace(Culprit(failures).kind);
  if (!decide_at_ || at < *decide_at_) decide_at_ = at;
  return now >= *decide_at_ || (plan_.agents == 0 && children_.all_ended());
}

void JobHost::ShowProgress() {
  if (!console_.ProgressDue()) return;
  if (!progress_.has_total()) {
    if (const auto total = board_.Value("job/total_steps")) {
      progress_.set_total_steps(std::stoll(*total));
    }
  }
  console_.Progress(progress_.Line());
}

void JobHost::EndAll() {
  try {
    board_.Set(kOutcomeKey, Text({{"status", static_cast<int>(*status_)},
                                  {"error", error_},
                                  {"failure", failure_ ? nlohmann::json(static_cast<int>(*failure_))
                                                       : nlohmann::json()}}));
  } catch (const CommError&) {
    // A full store: agents then know the reason from the answer to their next heartbeat.
  }
  if (status_ != JobStatus::kDone) board_.Abort(error_);
  children_.EndAll(kTermGrace);
  WaitForAgents();
  if (starter_ != nullptr) starter_->End(kAgentGrace);
  TakeRows();
  console_.EndProgress();
}

void JobHost::WaitForAgents() {
  const Deadline deadline = Deadline::After(kAgentGrace);
  const auto waiting = [this] {
    return std::ranges::any_of(board_.Agents(),
                               [this](const Member& agent) { return !board_.HasLeft(agent); });
  };
  while (waiting() && !deadline.expired()) {
    children_.Poll(kTick, -1);
    if (starter_ != nullptr) starter_->Poll();
  }
}

JobOutcome JobHost::Finish() {
  RunRecord record = MakeRecord();
  const std::vector<ProcessTrace> traces = TakeTraces(board_, spec_);
  record.critical_path = CriticalPathOf(record, traces);
  WriteTimeline(record, traces, options_.bundle_dir,
                [this](const std::string& text) { console_.Print("warning: " + text); });
  JobOutcome outcome{*status_, error_, options_.bench ? BenchSummary(record) : MakeSummary(record),
                     failure_};
  if (!options_.bench) options_.origin.AddTo(outcome.summary);
  try {
    if (!storage_error_.empty()) throw Error(storage_error_);
    // Whoever sees summary.json may count on all the rest, even after a loss of power.
    metrics_.Close();
    if (options_.more_attempts && IsWorthRetrying(outcome)) return outcome;
    SyncFiles(options_.bundle_dir);
    WriteFileAtomically(options_.bundle_dir + "/" + kSummaryFile, Text(outcome.summary, 2) + "\n");
  } catch (const Error& error) {
    // Without a summary the bundle is unfinished: a run whose results are lost was none.
    outcome.status = JobStatus::kFailed;
    outcome.failure.reset();
    if (outcome.error.empty()) {
      outcome.error = error.what();
    } else if (outcome.error != error.what()) {
      outcome.error += std::string("; ") + error.what();
    }
  }
  return outcome;
}

RunRecord JobHost::MakeRecord() const {
  RunRecord record;
  record.spec = spec_;
  record.status = JobStatusName(*status_);
  record.error = error_;
  record.started = started_;
  record.ended = UtcNow();
  record.wall_seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
  record.startup_seconds = startup_seconds_;
  record.address = plan_.coordinator.address;
  if (plan_.network != nullptr) record.network = plan_.network->record();
  record.launcher = plan_.launcher;
  record.workers = workers_;
  const auto read = [this](const Member& who, std::string* host) -> nlohmann::json {
    const auto member = board_.Record(who);
    if (!member) return nullptr;
    if (host != nullptr) *host = member->host;
    if (member->report.empty()) return nullptr;
    return nlohmann::json::parse(member->report, nullptr, false);
  };
  for (int rank = 0; rank < spec_.workers; ++rank) {
    WorkerRecord& worker = record.workers[static_cast<std::size_t>(rank)];
    worker.report = read({Role::kWorker, rank}, &worker.host);
  }
  for (int index = 0; index < LayoutServers(spec_).dedicated; ++index) {
    record.server_reports.push_back(read({Role::kServer, index}, nullptr));
  }
  record.evaluation = evaluation_;
  return record;
}

}  // namespace ringside

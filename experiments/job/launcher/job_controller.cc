#include "ringside/experiments/job/launcher/job_controller.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <span>
#include <utility>

#include "ringside/common/base/awake_clock.h"
#include "ringside/common/base/dilated_clock.h"
#include "ringside/common/base/errors.h"
#include "ringside/common/base/lack_of_resources.h"
#include "ringside/experiments/checkpoint/checkpoint_folder.h"
#include "ringside/experiments/job/fidelity/fidelity_json.h"
#include "ringside/experiments/job/launcher/bundle_lock.h"
#include "ringside/experiments/job/launcher/program_files.h"
#include "ringside/experiments/job/links/link_probe.h"
#include "ringside/experiments/job/summary/environment_record.h"
#include "ringside/experiments/job/summary/timeline_files.h"
#include "ringside/experiments/job/watch/member_reports.h"
#include "ringside/experiments/spec/bundle.h"
#include "ringside/experiments/spec/catalog.h"
#include "ringside/experiments/spec/run_dilation.h"
#include "ringside/experiments/spec/server_layout.h"
#include "ringside/experiments/system/environment/usable_cores.h"
#include "ringside/experiments/system/files/files.h"
#include "ringside/experiments/system/files/trusted_path.h"

namespace ringside {
namespace {

constexpr std::chrono::milliseconds kTick{20};
constexpr std::chrono::seconds kDiskPatience{5};
constexpr std::chrono::milliseconds kTermGrace{2'000};
constexpr std::chrono::milliseconds kAgentGrace{3'000};

std::string UtcNow() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

/// Replaces invalid UTF-8: file names may contain any bytes, but JSON may not.
std::string Text(const nlohmann::json& json, int indent = -1) {
  return json.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

double Seconds(std::chrono::milliseconds duration) {
  return std::chrono::duration<double>(duration).count();
}

/// Makes the directories of a bundle, and locks it.
FileDescriptor MakeBundle(const std::string& directory) {
  MakeDirectories(directory + "/logs");
  return LockBundle(directory);
}

}  // namespace

JobController::JobController(const RunSpec& spec, const JobOptions& options, JobControllerPlan plan,
                             const Environment& environment)
    : spec_(spec),
      options_(options),
      environment_(environment),
      plan_(std::move(plan)),
      fidelity_(plan_.network ? std::make_unique<FidelityMonitor>(plan_.network->lab()) : nullptr),
      begin_(plan_.begin),
      started_(UtcNow()),
      shared_job_state_(
          std::make_shared<JobState>(JobState::Options{.workers = spec.workers,
                                                       .servers = LayoutServers(spec).dedicated,
                                                       .spec_hash = SpecHash(spec),
                                                       .lease = DilatedClock::ToMachine(kLease)})),
      job_state_(*shared_job_state_),
      coordinator_(std::make_unique<Coordinator>(shared_job_state_, plan_.coordinator)),
      own_console_(Console::ForStandardError(options.show_progress)),
      console_(options.console != nullptr ? *options.console : own_console_),
      bundle_lock_(MakeBundle(options.bundle_dir)),
      rows_(options.bundle_dir, spec.workers, begin_),
      children_({options.bundle_dir + "/logs", options.echo_logs, options.program}, console_),
      states_(spec_, job_state_, console_, begin_),
      stops_(*plan_.signals, job_state_, console_, spec.timeout_s),
      verdict_(begin_),
      completed_(job_state_, children_, !spec.program.empty(), console_) {
  PrepareBundle();
}

JobController::~JobController() = default;

void JobController::PrepareBundle() const {
  // Checkpoints of another run in this directory would be taken for this one's.
  const std::string checkpoints = options_.bundle_dir + "/checkpoints";
  if (options_.generation == 0 && !ResumesWithin(options_.bundle_dir, spec_.resume)) {
    RemoveCheckpointsAfter(checkpoints, -1);
  }
  RemoveTemporaryCheckpoints(checkpoints);  // of a run whose launcher was killed
  WriteFileAtomically(options_.bundle_dir + "/" + kSpecFile,
                      Text(options_.origin.asked.value_or(spec_), 2) + "\n");
  WriteFileAtomically(options_.bundle_dir + "/environment.json",
                      Text(EnvironmentRecord(environment_), 2) + "\n");
  if (options_.generation == 0) {
    RemoveTree(options_.bundle_dir + "/generations");  // of an earlier run in this directory
    KeepProgramFiles(spec_, options_.bundle_dir);
  }
  if (plan_.network != nullptr) plan_.network->WriteRecord(options_.bundle_dir);
}

JobOutcome JobController::Run() {
  try {
    if (plan_.interrupted) {
      verdict_.Decide(JobStatus::kInterrupted,
                      "interrupted: stopped while its network was being built");
    } else {
      WarnOfNetwork();
      StartMembers();
      Watch();
    }
  } catch (const MissingBackendError& error) {
    verdict_.Decide(JobStatus::kFailed, error.what(), FailureKind::kMissingBackend);
  } catch (const std::exception& error) {
    const std::string lack = LackInCurrentException();
    if (lack.empty()) {
      verdict_.Decide(JobStatus::kFailed, error.what());
    } else {
      verdict_.Decide(JobStatus::kFailed, lack, FailureKind::kResources);
    }
  }
  EndAll();
  return Finish();
}

void JobController::WarnOfNetwork() {
  if (plan_.network == nullptr) return;
  if (const std::string why = DilationShortfall(spec_, UsableCores()); !why.empty()) {
    console_.Print("warning: " + why);
  }
  // `ok` is null when no link could be judged.
  if (plan_.network->record().at("ok") != false) return;
  console_.Print("warning: not all links carry the requested rate; see " + options_.bundle_dir +
                 "/network.json");
}

void JobController::StartMembers() {
  stops_.Begin();
  MemberWatch::Options watch{.lease = DilatedClock::ToMachine(kLease),
                             .join_timeout = plan_.join_timeout,
                             .all_are_children = plan_.agents == 0,
                             .agents_are_here = plan_.starter && plan_.starter->placement.is_here(),
                             .runs_user_program = !spec_.program.empty(),
                             .steps_together = StepsTogether(spec_)};
  if (plan_.starter) {
    const Placement& placement = plan_.starter->placement;
    watch.host_of = [&placement](const Member& who) { return placement.HostOf(who); };
  }
  if (DropsLostWorkers(spec_, options_)) {
    // Less than the others' own waits, so that the server is blamed and not one of them.
    constexpr double kShareOfTimeout = 1.0 / 3;
    const LostWorkers::Options options{
        .workers = spec_.workers,
        .servers = LayoutServers(spec_).dedicated,
        .drop_time = std::chrono::duration_cast<std::chrono::nanoseconds>(DilatedClock::ToMachine(
            std::chrono::duration<double>(kShareOfTimeout * spec_.timeout_s)))};
    lost_workers_ = std::make_unique<LostWorkers>(job_state_, children_, options, console_);
    watch.goes_on_without = [this](const Failure& failure) { return lost_workers_->Take(failure); };
  }
  member_watch_ = std::make_unique<MemberWatch>(job_state_, children_, watch);
  nlohmann::json processes = nlohmann::json::array();
  for (MemberSetup setup : plan_.local) {
    setup.coordinator = coordinator_->target();
    setup.token = plan_.coordinator.token;
    children_.Start(setup, plan_.network ? plan_.network->NamespaceOf(setup.who) : -1);
  }
  if (plan_.starter) {
    StartStarter(*plan_.starter);
    processes.push_back({{"name", starter_->name()}, {"pid", starter_->pid()}});
  }
  for (const auto& [who, pid] : children_.started()) {
    processes.push_back({{"name", MemberName(who)}, {"pid", pid}});
  }
  WriteFileAtomically(options_.bundle_dir + "/processes.json", Text(processes, 2) + "\n");
}

void JobController::StartStarter(AgentPlan& agents) {
  agents.setup.coordinator = coordinator_->target();
  agents.setup.token = plan_.coordinator.token;
  job_state_.Set(kAgentSetupKey, agents.ToJson());
  starter_ = std::make_unique<RankStarter>(
      agents, environment_,
      ChildGroup::Options{options_.bundle_dir + "/logs", options_.echo_logs, options_.program},
      console_);
}

void JobController::Watch() {
  while (!verdict_.decided()) {
    children_.Poll(kTick, stops_.fd());
    stops_.TakeSuspension();
    TakeRows();
    if (plan_.network != nullptr)
      plan_.network->WatchConnections(rows_.startup_seconds().has_value());
    if (const auto why = stops_.Take()) verdict_.Decide(JobStatus::kInterrupted, *why);
    WatchMembers();
    if (lost_workers_ != nullptr) lost_workers_->Look();
    // The workers of a bench do not say what they are doing.
    if (!options_.bench) states_.Look();
    if (const auto culprit = member_watch_->Culprit()) {
      if (!GoesOnWithout(*culprit)) DecideFailed(*culprit);
    } else if (job_state_.Complete() && job_state_.failures().empty() && completed_.IsOver() &&
               RowsAreWritten()) {
      DecideComplete();
    } else if (options_.time_limit_s > 0 &&
               Clock::now() - begin_ >
                   std::chrono::duration<double>(options_.time_limit_s - options_.time_used_s)) {
      verdict_.Decide(
          JobStatus::kTimedOut,
          fmt::format("the run took longer than its limit of {} s", options_.time_limit_s));
    }
    ShowProgress();
  }
}

bool JobController::GoesOnWithout(const Failure& culprit) {
  if (lost_workers_ == nullptr || culprit.kind != FailureKind::kComm ||
      stops_.WasStoppedTooLong()) {
    return false;
  }
  const std::vector<Failure> failures = job_state_.failures();
  const bool alone = std::ranges::all_of(
      failures, [&](const Failure& failure) { return failure.who == culprit.who; });
  const int workers = spec_.workers - static_cast<int>(lost_workers_->all().size());
  if (!alone || MemberToBlame(culprit, failures, workers) != MemberName(culprit.who)) return false;
  if (!lost_workers_->Take({culprit.who, FailureKind::kLost, "is cut off: " + culprit.message})) {
    return false;
  }
  job_state_.Forgive(culprit.who);
  member_watch_->ForgetCulprit();
  states_.ForgetFailure();
  return true;
}

void JobController::DecideFailed(const Failure& culprit) {
  const bool gave_up = culprit.kind == FailureKind::kEarlyExit ||
                       culprit.kind == FailureKind::kLost || culprit.kind == FailureKind::kComm;
  if (gave_up && stops_.WasStoppedTooLong()) {
    return verdict_.Decide(
        JobStatus::kFailed,
        fmt::format("this process, which hosts the coordinator, was stopped for {:.0f} "
                    "s; the other processes of a run wait for it for {} s",
                    std::chrono::duration<double>(LastStop().length).count(),
                    Seconds(DilatedClock::ToMachine(kLease))));
  }
  const bool diverged = culprit.kind == FailureKind::kDiverged;
  std::string why = lost_workers_ == nullptr ? "" : lost_workers_->WhyNot(culprit);
  if (starter_ != nullptr && job_state_.Agents().empty()) {
    why = fmt::format("{} says: {}", starter_->name(), starter_->FirstWords());
  }
  verdict_.Decide(diverged ? JobStatus::kDiverged : JobStatus::kFailed,
                  culprit.Text() + (why.empty() ? "" : "; " + why), culprit.kind,
                  MemberToBlame(culprit, job_state_.failures(), spec_.workers));
}

void JobController::DecideComplete() {
  bool completed = true;
  for (int rank = 0; rank < spec_.workers; ++rank) {
    const auto record = job_state_.Record({Role::kWorker, rank});
    if (record && record->dropped) continue;
    completed =
        completed && record && nlohmann::json::parse(record->report).at("completed").get<bool>();
  }
  if (completed) {
    verdict_.Decide(JobStatus::kDone, "");
  } else {
    verdict_.Decide(JobStatus::kInterrupted, "interrupted: stopped after a common last step");
  }
}

// A starter that is killed takes its agents with it. One that exits may do so because an agent has
// ended, which is to blame then. Both may have happened since the last look.
void JobController::WatchMembers() {
  const auto was_killed = [](const std::optional<ProcessEnd>& end) {
    return end && end->signal != 0;
  };
  const bool starter_first = starter_ != nullptr && was_killed(starter_->Poll());
  if (starter_first) WatchStarter();
  member_watch_->Look();
  if (starter_ != nullptr && !starter_first) WatchStarter();
}

// Blames the starter only when its agents could not report; otherwise they report their processes.
void JobController::WatchStarter() {
  if (job_state_.Missing().empty()) starter_->RemoveToken();
  const std::optional<ProcessEnd>& end = starter_->Poll();
  if (!end) return;
  if (job_state_.Complete() || !job_state_.failures().empty()) return;
  const bool all_joined = job_state_.Missing().empty();
  const char* when = "while the processes were running";
  if (!all_joined) {
    when = job_state_.Agents().empty() ? "before any process had joined"
                                       : "before all processes had joined";
  }
  const std::string said = starter_->FirstWords();
  const std::string error =
      fmt::format("{} (pid {}) {} {}{}; its output is in {}", starter_->name(), starter_->pid(),
                  end->Text(), when, said.empty() ? "" : ": " + said, starter_->log_path());
  if (all_joined) {
    // It ends with a host or an agent that it has lost, before the lease of that agent is over.
    verdict_.Decide(JobStatus::kFailed, error, FailureKind::kEarlyExit);
  } else {
    verdict_.Decide(JobStatus::kFailed, error);
  }
}

// A full disk ends the run, which stays unfinished.
void JobController::TakeRows() {
  const auto see = [this](std::span<const StepRecord> steps) { states_.AddSteps(steps); };
  if (const auto why_lost = rows_.TakeFrom(job_state_, see)) {
    verdict_.Decide(JobStatus::kFailed, *why_lost);
  }
}

bool JobController::RowsAreWritten() {
  TakeRows();
  if (!rows_.DrainWithin(kTick)) return false;
  TakeRows();  // says if they could not be written
  return true;
}

void JobController::ShowProgress() {
  if (!console_.ProgressDue()) return;
  Progress& progress = rows_.progress();
  if (!progress.has_total() && !EndsWithItsProgram(spec_)) {
    if (const auto total = job_state_.Value("job/total_steps")) {
      progress.set_total_steps(std::stoll(*total));
    }
  }
  console_.Progress(progress.Line());
}

void JobController::EndAll() {
  states_.LookAtEnd();
  try {
    job_state_.Set(kOutcomeKey, OutcomeToText(verdict_.Outcome(stops_.Requested())));
  } catch (const CommError&) {  // NOLINT(bugprone-empty-catch)
    // The store is full. Agents get the reason with the answer to their next heartbeat.
  }
  if (verdict_.status() != JobStatus::kDone || !job_state_.Unended().empty()) {
    job_state_.Abort(verdict_.error().empty() ? "the job is over" : verdict_.error());
  }
  children_.EndAll(kTermGrace);
  WaitForAgents();
  if (starter_ != nullptr) starter_->End(kAgentGrace);
  TakeRows();
  console_.EndProgress();
}

void JobController::WaitForAgents() {
  const Deadline deadline = Deadline::After(kAgentGrace);
  const auto waiting = [this] {
    return std::ranges::any_of(job_state_.Agents(),
                               [this](const Member& agent) { return !job_state_.HasLeft(agent); });
  };
  while (waiting() && !deadline.expired()) {
    children_.Poll(kTick, -1);
    if (starter_ != nullptr) starter_->Poll();
  }
}

JobOutcome JobController::Finish() {
  if (!rows_.DrainWithin(kDiskPatience)) {
    console_.Print(
        fmt::format("waiting until the disk has taken the steps of {}", options_.bundle_dir));
  }
  rows_.Drain();
  children_.DrainLogs();
  if (starter_ != nullptr) starter_->DrainLog();
  RunRecord record = MakeRecord();
  record.fidelity = JudgeFidelityOf(record);
  const std::vector<ProcessTrace> traces = TakeTraces(job_state_, spec_);
  record.critical_path = CriticalPathOf(record, traces);
  WriteTimeline(record, traces, options_.bundle_dir,
                [this](const std::string& text) { console_.Print("warning: " + text); });
  nlohmann::json summary = options_.bench ? BenchSummary(record) : MakeSummary(record);
  JobOutcome outcome = verdict_.Outcome(stops_.Requested());
  outcome.summary = std::move(summary);
  outcome.steps = rows_.steps();
  if (!options_.bench) {
    options_.origin.AddTo(outcome.summary, outcome.steps.first);
    outcome.summary["last_words"] = EndedInOrder() ? nlohmann::json() : states_.LastWords();
  }
  outcome.summary["failure"] = verdict_.failure_record();
  try {
    if (!rows_.storage_error().empty()) throw Error(rows_.storage_error());
    if (plan_.network != nullptr) plan_.network->WriteRecord(options_.bundle_dir);
    RemoveTemporaryCheckpoints(options_.bundle_dir + "/checkpoints");
    if (outcome.status == JobStatus::kDone) PruneKept();
    if (options_.another_follows && options_.another_follows(outcome)) return outcome;
    WriteSummary(options_.bundle_dir, outcome.summary);
  } catch (const Error& error) {
    // Without a summary the bundle stays unfinished, because its results are lost.
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

// Worker 0 has kept one more, in case that somebody fails after the last step.
void JobController::PruneKept() const {
  const std::string checkpoints = FindCheckpointFolder(options_.bundle_dir + "/checkpoints");
  if (checkpoints.empty()) return;
  for (const std::string& problem : PruneCheckpoints(checkpoints, spec_.keep_checkpoints)) {
    console_.Print("warning: " + problem);
  }
}

bool JobController::EndedInOrder() const {
  if (verdict_.status() == JobStatus::kInterrupted) return job_state_.Complete();
  return verdict_.status() == JobStatus::kDone || verdict_.status() == JobStatus::kDiverged;
}

nlohmann::json JobController::JudgeFidelityOf(const RunRecord& record) {
  if (!spec_.network) return nullptr;
  if (fidelity_ == nullptr) return UnjudgedFidelity("the run ended before its network was built");
  const nlohmann::json report = record.workers.empty() ? nullptr : record.workers.front().report;
  std::optional<double> step_ms = options_.bench ? BenchStepMs(report) : MedianStepMs(record);
  if (step_ms) *step_ms *= record.dilation;  // The watch is in the machine's time.
  return WithNetwork(fidelity_->Judge(report, step_ms), record.network, HostsMustConnect());
}

bool JobController::HostsMustConnect() const {
  const StrategyEntry* entry = spec_.catalog().FindStrategy(spec_.strategy);
  return entry != nullptr && entry->traits.family != Family::kNone &&
         plan_.network->lab().plan().hosts.size() > 1;
}

RunRecord JobController::MakeRecord() const {
  RunRecord record;
  record.spec = spec_;
  record.status = JobStatusName(verdict_.status());
  record.error = verdict_.error();
  record.started = started_;
  record.ended = UtcNow();
  record.wall_seconds = std::chrono::duration<double>(Clock::now() - begin_).count();
  record.startup_seconds = rows_.startup_seconds();
  record.address = plan_.coordinator.address;
  record.tls = !plan_.coordinator.tls.empty();
  if (plan_.network != nullptr) record.network = plan_.network->record();
  if (plan_.starter) {
    record.measured_links =
        MeasuredLinks(static_cast<int>(plan_.starter->placement.hosts.size()),
                      [this](const std::string& key) { return job_state_.Value(key); })
            .value_or(std::vector<double>());
  }
  record.dilation = DilatedClock::Factor();
  record.cores = UsableCores();
  record.launcher = plan_.launcher;
  record.workers = rows_.workers();
  if (lost_workers_ != nullptr) record.lost_workers = lost_workers_->all();
  AddReports(job_state_, LayoutServers(spec_).dedicated, record);
  record.evaluation = rows_.last_evaluation();
  record.warnings = states_.warnings();
  return record;
}

}  // namespace ringside

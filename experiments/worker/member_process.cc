#include "ringside/experiments/worker/member_process.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "ringside/common/base/allocator.h"
#include "ringside/common/base/dilated_clock.h"
#include "ringside/common/base/errors.h"
#include "ringside/common/base/fault_point.h"
#include "ringside/common/base/file_descriptor.h"
#include "ringside/experiments/system/files/files.h"
#include "ringside/experiments/system/processes/process.h"

namespace ringside {
namespace {

constexpr std::size_t kMaxSetupBytes = 64 << 10;
constexpr std::chrono::seconds kJoinTimeout{30};
constexpr int kExitFailed = 1;

MemberSetup ReadSetup(const std::vector<std::string>& args, const Catalog& catalog) {
  // "--rank 2 --job-fd 3": only people who read `ps` need the rank.
  if (args.size() != 4 || args[2] != "--job-fd" || args[3] != std::to_string(kSecretInputFd)) {
    throw UsageError("this verb is for the launcher alone: use 'ringside train'");
  }
  const FileDescriptor input(kSecretInputFd);
  return MemberSetup::FromJson(
      ReadDescriptor(input.get(), kMaxSetupBytes, "the launcher's message"), catalog);
}

}  // namespace

MemberProcess::MemberProcess(MemberSetup setup)
    : setup_(std::move(setup)),
      name_(MemberName(setup_.who)),
      client_(std::make_unique<CoordinatorClient>(CoordinatorClient::Options{
          .target = setup_.coordinator, .token = setup_.token, .tls = setup_.tls})),
      timeline_(std::make_unique<TimelineSender>(*client_, setup_.spec)) {}

int MemberProcess::Run(const std::vector<std::string>& args, const Catalog& catalog,
                       const std::function<MemberResult(MemberProcess&)>& body) {
  KeepFreedMemory();  // before any thread starts; the same in every process
  MemberSetup setup = ReadSetup(args, catalog);
  DilatedClock::SetFactor(setup.dilation);
  MemberProcess process(std::move(setup));
  const auto parent = static_cast<pid_t>(process.setup_.parent_pid);
  // A program of the user's may have been started by a script of the user's, which the launcher
  // started. Then it ends with its heartbeat.
  if (process.setup_.spec.program.empty() || ::getppid() == parent) DieWithParent(parent);
  // The name is for people who look at a list of processes. A job runs without it as well.
  ::prctl(PR_SET_NAME, process.name_.c_str());
  process.Join();
  try {
    process.SubmitReport(body(process));
    return 0;
  } catch (...) {
    return process.ReportFailure(ReasonOfCurrentException());
  }
}

void MemberProcess::Join() {
  client_->Join({.who = setup_.who,
                 .pid = ::getpid(),
                 .host = setup_.world.host,
                 .spec_hash = SpecHash(setup_.spec)},
                Deadline::After(kJoinTimeout));
  setup_.members_token = client_->members_token();
  timeline_->ReadClock();
  Heartbeat::Options options;
  options.lease = DilatedClock::ToMachine(options.lease);
  options.before_beat = [this] { timeline_->SendSome(); };
  options.activity = [this] { return CurrentActivity(); };
  heartbeat_ = std::make_unique<Heartbeat>(
      *client_, drain_barrier_, buffer_, options, [](const HeartbeatEnd& end) {
        fmt::print(stderr, "ends because {}{}\n", end.silent ? "its coordinator is lost: " : "",
                   end.reason);
        std::fflush(stderr);
        // The other threads may wait for peers that will never
        // answer.
        ::_exit(kExitFailed);
      });
}

void MemberProcess::Tell(std::function<ActivityBoard::Entry()> doing) {
  const std::lock_guard lock(activity_mutex_);
  doing_ = std::move(doing);
}

ActivityBoard::Entry MemberProcess::CurrentActivity() const {
  const std::lock_guard lock(activity_mutex_);
  return doing_ ? doing_() : ActivityBoard::Entry();
}

void MemberProcess::SubmitReport(const MemberResult& result) {
  client_->SubmitReport(result.report);
  timeline_->ReadClock();
  timeline_->SendRest();
  heartbeat_->Finish();
  client_->Leave();
  FaultPoint({.point = fault_points::kMemberLeft, .step = 0});
}

int MemberProcess::ReportFailure(const FailureReason& reason) {
  fmt::print(stderr, "{}\n", reason.message);
  try {
    client_->Fail(reason);
    timeline_->SendRest();
    heartbeat_->Finish();
  } catch (const std::exception& error) {
    // The launcher quotes the last line.
    fmt::print(stderr, "{}; the coordinator cannot be told: {}\n", reason.message, error.what());
  }
  std::fflush(stderr);
  // Destructors may wait for peers that have gone, and the launcher already has the report.
  ::_exit(kExitFailed);
}

}  // namespace ringside

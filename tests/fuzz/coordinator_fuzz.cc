// Calls of the coordinator: messages of a job's processes, and what they change in the state of the
// job. The dispatch is that of experiments/job/coordinator/coordinator.cc, without a network.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ringside/experiments/job/coordinator/coordinator_messages.h"
#include "ringside/experiments/job/coordinator/job_state.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/quiet_protobuf.h"

namespace ringside {
namespace {

enum Method : std::uint8_t {
  kJoin,
  kSet,
  kGet,
  kBeat,
  kReport,
  kTrace,
  kFail,
  kChildExit,
  kLeave,
  kForget,
  kMethods,
};

constexpr char kSpecHash[] = "spec";

class Service {
 public:
  void Serve(std::uint8_t method, const std::string& message) {
    switch (method % kMethods) {
      case kJoin:
        return Join(message);
      case kSet:
        return Set(message);
      case kGet:
        return Get(message);
      case kBeat:
        return Beat(message);
      case kReport:
        return Report(message);
      case kTrace:
        return Trace(message);
      case kFail:
        return Fail(message);
      case kChildExit:
        return ChildExit(message);
      case kForget:
        return Forget(message);
      default:
        return Leave(message);
    }
  }

  /// What the launcher asks for at the end of a run.
  void Finish() {
    const std::vector<Failure> failures = job_state_.failures();
    if (!failures.empty()) static_cast<void>(RootCause(failures).Text());
    job_state_.Missing();
    job_state_.Lost();
    job_state_.Complete();
    for (int rank = 0; rank < kWorkers; ++rank) {
      job_state_.TakeRows({Role::kWorker, rank});
      const ClockCorrection clock(job_state_.TakeTrace({Role::kWorker, rank}).readings);
      clock.ToCoordinator(0);
    }
  }

 private:
  static constexpr int kWorkers = 2;

  /// Whether the bytes are such a message.
  template <typename Message>
  static bool Parse(const std::string& bytes, Message& message) {
    return message.ParseFromString(bytes);
  }

  void Join(const std::string& bytes) {
    job::JoinRequest request;
    if (!Parse(bytes, request)) return;
    const JobState::MemberHandle ticket =
        job_state_.Join({request.protocol(),
                         {FromMessage(request.role()), request.index()},
                         request.pid(),
                         request.host(),
                         request.spec_hash()});
    job::JoinReply reply;
    ToMessage(ticket, reply.mutable_member());
  }
  void Set(const std::string& bytes) {
    job::SetRequest request;
    if (Parse(bytes, request)) job_state_.Set(request.key(), request.value());
  }
  void Forget(const std::string& bytes) {
    job::ForgetRequest request;
    if (Parse(bytes, request)) job_state_.Forget(request.key());
  }
  void Get(const std::string& bytes) {
    job::GetRequest request;
    if (!Parse(bytes, request)) return;
    const std::uint64_t waiter = job_state_.WhenSet(request.key(), [](const std::string&) {});
    if (request.key().size() % 2 == 1) job_state_.CancelWait(waiter);
  }
  void Beat(const std::string& bytes) {
    job::BeatRequest request;
    if (!Parse(bytes, request)) return;
    job::BeatReply reply;
    ToMessage(job_state_.HandleHeartbeat(FromMessage(request.member()), FromMessage(request)),
              &reply);
  }
  void Report(const std::string& bytes) {
    job::HandInRequest request;
    if (!Parse(bytes, request)) return;
    job_state_.SubmitReport(FromMessage(request.member()), request.content());
  }
  void Trace(const std::string& bytes) {
    job::TracePiece request;
    if (!Parse(bytes, request)) return;
    job_state_.SubmitTrace(FromMessage(request.member()), FromMessage(request));
  }
  void Fail(const std::string& bytes) {
    job::FailRequest request;
    if (!Parse(bytes, request)) return;
    job_state_.Fail(FromMessage(request.member()),
                    {FromMessage(request.kind()), request.message(), request.accused()});
  }
  void ChildExit(const std::string& bytes) {
    job::FailRequest request;
    if (!Parse(bytes, request)) return;
    job_state_.ReportChildExit(FromMessage(request.member()), {.kind = FromMessage(request.kind()),
                                                               .code = request.exit_code(),
                                                               .message = request.message(),
                                                               .last_line = request.last_line()});
  }
  void Leave(const std::string& bytes) {
    job::LeaveRequest request;
    if (Parse(bytes, request)) job_state_.Leave(FromMessage(request.member()));
  }

  JobState job_state_{{.workers = kWorkers, .servers = 1, .spec_hash = kSpecHash}};
};

template <typename Message>
std::string Call(Method method, const Message& message) {
  return static_cast<char>(method) + Chunk(message.SerializeAsString());
}

std::string JoinOf(job::Role role, int index) {
  job::JoinRequest request;
  request.set_protocol(kJobProtocol);
  request.set_role(role);
  request.set_index(index);
  request.set_pid(7);
  request.set_host("here");
  request.set_spec_hash(kSpecHash);
  return Call(kJoin, request);
}

/// The first member that has joined has incarnation 1, and so on.
template <typename Message>
Message From(int index, std::uint64_t incarnation, job::Role role = job::WORKER) {
  Message message;
  message.mutable_member()->set_role(role);
  message.mutable_member()->set_index(index);
  message.mutable_member()->set_incarnation(incarnation);
  return message;
}

std::string SomeCalls() {
  job::SetRequest set;
  set.set_key("ps/0");
  set.set_value("tcp 127.0.0.1:4711");
  job::GetRequest get;
  get.set_key("ps/0");
  job::ForgetRequest forget;
  forget.set_key("ps/0");
  auto beat = From<job::BeatRequest>(0, 1);
  beat.set_next_step(4);
  beat.set_rows_number(1);
  beat.mutable_activity()->set_kind(job::Activity::AWAIT);
  beat.add_steps()->set_step(3);
  beat.mutable_steps(0)->set_step_ms(12.5);
  beat.add_evaluations()->set_loss(0.5);
  auto report = From<job::HandInRequest>(0, 1);
  report.set_content(R"({"completed": true})");
  auto trace = From<job::TracePiece>(0, 1);
  trace.set_spans(std::string(64, '\0'));
  trace.add_readings()->set_at(1000);
  trace.mutable_readings(0)->set_offset(500);
  auto failure = From<job::FailRequest>(1, 2);
  failure.set_kind(job::COMM);
  failure.set_message("worker 0 has left");
  auto child_end = From<job::FailRequest>(1, 3, job::AGENT);
  child_end.set_kind(job::EARLY_EXIT);
  child_end.set_exit_code(1);
  return Call(kGet, get) + Call(kSet, set) + Call(kForget, forget) + Call(kBeat, beat) +
         Call(kReport, report) + Call(kTrace, trace) + Call(kFail, failure) +
         Call(kChildExit, child_end) + Call(kLeave, From<job::LeaveRequest>(0, 1));
}

}  // namespace

// Calls: the method, and the message.
std::vector<std::string> FuzzSeeds() {
  const std::string joins =
      JoinOf(job::WORKER, 0) + JoinOf(job::WORKER, -1) + JoinOf(job::AGENT, 1);
  return {joins, joins + SomeCalls(), JoinOf(job::SERVER, 0) + SomeCalls()};
}

}  // namespace ringside

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ringside;
  SilenceProtobuf();
  FuzzInput input(data, size);
  Service service;
  while (!input.empty()) {
    const std::uint8_t method = input.Byte();
    const std::string message = input.NextChunk();
    DropRefusals([&] { service.Serve(method, message); });
  }
  service.Finish();
  return 0;
}

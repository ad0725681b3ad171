#include "tests/faults/planned_fault.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <bit>
#include <charconv>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

using Kind = PlannedFault::Kind;
using Who = PlannedFault::Who;

struct KindName {
  std::string_view name;
  Kind kind;
  std::string_view point;  // if the text names none
};
constexpr std::array kKinds{
    KindName{"kill", Kind::kKill, fault_points::kStepBegins},
    KindName{"exit", Kind::kExit, fault_points::kStepBegins},
    KindName{"freeze", Kind::kFreeze, fault_points::kStepBegins},
    KindName{"throw", Kind::kThrow, fault_points::kStepBegins},
    KindName{"bloat", Kind::kBloat, fault_points::kStepBegins},
    KindName{"cut", Kind::kCut, fault_points::kStepBegins},
    KindName{"stall", Kind::kStall, fault_points::kStepBegins},
    KindName{"hang", Kind::kHang, fault_points::kStepBegins},
    KindName{"nan", Kind::kNan, fault_points::kStepComputed},
    KindName{"inf", Kind::kInf, fault_points::kBucketReady},
    KindName{"huge", Kind::kHuge, fault_points::kBucketReady},
    KindName{"flip", Kind::kFlip, fault_points::kBucketAwaited},
};
constexpr std::array kPoints{
    fault_points::kStepBegins,  fault_points::kStepComputed, fault_points::kBucketAwaited,
    fault_points::kBucketReady, fault_points::kShardApplied, fault_points::kBucketSubmitted,
    fault_points::kMemberLeft,
};

constexpr std::uint32_t kFlippedBit = 1U << 20U;  // an eighth of the value, or less

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

/// The number after `word`; absent if the text is something else.
std::optional<std::int64_t> NumberAfter(std::string_view word, std::string_view text) {
  if (!text.starts_with(word)) return std::nullopt;
  text.remove_prefix(word.size());
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

const KindName* FindKind(std::string_view name) {
  for (const KindName& kind : kKinds) {
    if (kind.name == name) return &kind;
  }
  return nullptr;
}

bool SetMember(std::string_view text, PlannedFault& fault) {
  if (text == "any") {
    fault.who = Who::kAny;
    return true;
  }
  const auto rank = NumberAfter("rank", text);
  const auto server = NumberAfter("server", text);
  fault.who = server ? Who::kServer : Who::kWorker;
  fault.member = static_cast<int>(rank ? *rank : server.value_or(0));
  return rank || server;
}

/// Faults of values have one point.
bool SetPoint(std::string_view text, PlannedFault& fault) {
  const bool of_values = fault.kind == Kind::kNan || fault.kind == Kind::kInf ||
                         fault.kind == Kind::kHuge || fault.kind == Kind::kFlip;
  if (of_values && text != fault.point) return false;
  for (const std::string_view point : kPoints) {
    if (point != text) continue;
    fault.point = text;
    return true;
  }
  return false;
}

bool SetBucket(std::string_view text, PlannedFault& fault) {
  const auto bucket = NumberAfter("bucket", text);
  if (bucket) fault.bucket = static_cast<int>(*bucket);
  return bucket.has_value();
}

/// The plan of this process, and what it knows of itself.
struct Plan {
  std::optional<PlannedFault> fault;
  std::string once;
  // Written by the first point of a member, before its other threads start.
  Who who = Who::kAny;
  int member = -1;
  int generation = 0;
  std::once_flag claim;
  bool mine = false;
  std::atomic<bool> struck{false};
};

Plan& ThePlan() {
  static Plan plan;
  return plan;
}

bool IsMe(const Plan& plan, const PlannedFault& fault) {
  if (plan.member < 0) return false;
  return fault.who == Who::kAny || (fault.who == plan.who && fault.member == plan.member);
}

/// Whether it is this process, among all that may be meant.
bool Claim(Plan& plan) {
  if (plan.once.empty()) return plan.generation == 0;
  const int file = ::open(plan.once.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (file < 0) return false;  // another process has, or this one in an earlier generation
  ::close(file);
  return true;
}

/// Keeps it, and writes to each page, so that all of it counts.
void TakeMemory() {
  constexpr std::size_t kBytes = std::size_t{256} << 20;
  static std::vector<char> memory;
  memory.assign(kBytes, 1);
}

/// Faults of values strike all buckets of their step. The others strike once.
bool IsOfValues(Kind kind) { return kind == Kind::kInf || kind == Kind::kHuge; }

void Strike(const FaultSite& site, Kind kind) {
  switch (kind) {
    case Kind::kKill:
      ::raise(SIGKILL);
      break;
    case Kind::kExit:
      std::_Exit(0);
    case Kind::kFreeze:
      ::kill(::getpid(), SIGSTOP);
      break;
    case Kind::kThrow:
      throw InternalError("the fault that RINGSIDE_FAULT asked for");
    case Kind::kCut:
      throw CommError("server 0", "push", "the fault that RINGSIDE_FAULT asked for");
    case Kind::kBloat:
      TakeMemory();
      break;
    case Kind::kStall:
      std::this_thread::sleep_for(std::chrono::seconds(2));
      break;
    case Kind::kHang:
      while (true) ::pause();
    case Kind::kNan:
      if (site.loss != nullptr) *site.loss = std::numeric_limits<double>::quiet_NaN();
      break;
    case Kind::kInf:
      site.values.front() = std::numeric_limits<float>::infinity();
      break;
    case Kind::kHuge:
      site.values.front() = 1e38F;
      break;
    case Kind::kFlip: {
      float& value = site.values.front();
      value = std::bit_cast<float>(std::bit_cast<std::uint32_t>(value) ^ kFlippedBit);
      break;
    }
  }
}

void AtPoint(const FaultSite& site) {
  Plan& plan = ThePlan();
  if (!plan.fault) return;
  const PlannedFault& fault = *plan.fault;
  if (site.point == fault_points::kWorkerStarts || site.point == fault_points::kServerStarts) {
    plan.who = site.point == fault_points::kWorkerStarts ? Who::kWorker : Who::kServer;
    plan.member = site.member;
    plan.generation = site.generation;
    return;
  }
  if (!IsMe(plan, fault) || site.point != fault.point || site.step != fault.step) return;
  if (fault.bucket && site.bucket != *fault.bucket) return;
  std::call_once(plan.claim, [&] { plan.mine = Claim(plan); });
  const bool again = plan.struck.exchange(true);
  if (plan.mine && (!again || IsOfValues(fault.kind))) Strike(site, fault.kind);
}

}  // namespace

PlannedFault PlannedFault::Parse(std::string_view text) {
  const std::size_t at = text.find('@');
  const KindName* kind = FindKind(text.substr(0, at));
  PlannedFault fault;
  bool right = kind != nullptr && at != std::string_view::npos;
  if (right) {
    const auto parts = Split(text.substr(at + 1), ':');
    const auto step = parts.size() > 1 ? NumberAfter("step", parts[1]) : std::nullopt;
    fault.kind = kind->kind;
    fault.step = step.value_or(0);
    fault.point = kind->point;
    if (kind->kind == Kind::kFlip) fault.bucket = 0;
    right = SetMember(parts[0], fault) && step && parts.size() <= 4 &&
            (parts.size() < 3 || SetPoint(parts[2], fault)) &&
            (parts.size() < 4 || SetBucket(parts[3], fault));
  }
  if (right) return fault;
  throw ConfigError("RINGSIDE_FAULT=" + std::string(text) +
                    ": expected KIND@MEMBER:stepS, then perhaps :POINT and :bucketB");
}

void InstallPlannedFault() {
  const char* text = std::getenv("RINGSIDE_FAULT");
  if (text == nullptr) return;
  Plan& plan = ThePlan();
  try {
    plan.fault = PlannedFault::Parse(text);
  } catch (const ConfigError& error) {
    std::fprintf(stderr, "%s\n", error.what());
    std::exit(3);
  }
  if (const char* once = std::getenv("RINGSIDE_FAULT_ONCE")) plan.once = once;
  SetFaultHook(AtPoint);
}

}  // namespace ringside

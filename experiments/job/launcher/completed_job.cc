#include "ringside/experiments/job/launcher/completed_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "ringside/common/base/awake_clock.h"

namespace ringside {
namespace {

// In the machine's time: the end of a process sends nothing over links.
constexpr std::chrono::seconds kToEnd{10};
// A program that ends sooner is not worth a message.
constexpr std::chrono::seconds kUntilTold{10};

std::string Names(const std::vector<Member>& members) {
  std::string names;
  for (const Member& who : members) names += (names.empty() ? "" : ", ") + MemberName(who);
  return names;
}

}  // namespace

std::vector<Member> CompletedJob::Running() const {
  std::vector<Member> running = children_.running();
  const std::vector<Member> elsewhere = job_state_.Unended();
  running.insert(running.end(), elsewhere.begin(), elsewhere.end());
  return running;
}

bool CompletedJob::IsOver() {
  const std::vector<Member> running = Running();
  if (running.empty()) return true;
  const Clock::time_point now = AwakeNow();
  if (!complete_since_) complete_since_ = without_programs_since_ = now;
  const bool has_programs = workers_are_programs_ && std::ranges::any_of(running, [](Member who) {
                              return who.role == Role::kWorker;
                            });
  if (has_programs) {
    without_programs_since_ = now;
    if (!told_ && now - *complete_since_ > kUntilTold) {
      told_ = true;
      console_.Print("the training is over; waiting for the end of the programs: " +
                     Names(running));
    }
    return false;
  }
  if (now - without_programs_since_ < kToEnd) return false;
  console_.Print(
      fmt::format("warning: {} handed in all results, but did not end within {} s; killed",
                  Names(running), kToEnd.count()));
  return true;
}

}  // namespace ringside

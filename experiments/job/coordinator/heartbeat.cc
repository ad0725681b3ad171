#include "ringside/experiments/job/coordinator/heartbeat.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "ringside/common/base/awake_clock.h"
#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

// Keeps a beat far below the coordinator's 4 MiB.
constexpr std::size_t kRowsPerBeat = 8192;
// The interval is short while the workers agree on their last step, because all of them wait.
constexpr std::chrono::milliseconds kHeldInterval{10};
// A coordinator that lives listens. A machine on the way may refuse a connection by mistake.
constexpr int kRefusals = 2;

template <typename Row>
std::vector<Row> TakeFirst(std::vector<Row>& rows, std::size_t count) {
  const auto end = rows.begin() + static_cast<std::ptrdiff_t>(std::min(count, rows.size()));
  std::vector<Row> taken(std::make_move_iterator(rows.begin()), std::make_move_iterator(end));
  rows.erase(rows.begin(), end);
  return taken;
}

}  // namespace

void HeartbeatBuffer::Add(const StepRecord& step) {
  const std::lock_guard lock(mutex_);
  pending_.steps.push_back(step);
}

void HeartbeatBuffer::Add(const HashedEvaluation& evaluation) {
  const std::lock_guard lock(mutex_);
  pending_.evaluations.push_back(evaluation);
}

Beat HeartbeatBuffer::Take(std::size_t max_rows) {
  const std::lock_guard lock(mutex_);
  Beat beat;
  beat.steps = TakeFirst(pending_.steps, max_rows);
  beat.evaluations = TakeFirst(pending_.evaluations, max_rows);
  return beat;
}

bool HeartbeatBuffer::empty() const {
  const std::lock_guard lock(mutex_);
  return pending_.steps.empty() && pending_.evaluations.empty();
}

Heartbeat::Heartbeat(CoordinatorClient& client, DrainBarrier& drain_barrier,
                     HeartbeatBuffer& buffer, Options options,
                     std::function<void(const HeartbeatEnd&)> on_end)
    : client_(client),
      drain_barrier_(drain_barrier),
      buffer_(buffer),
      options_(std::move(options)),
      on_end_(std::move(on_end)),
      thread_([this] { Run(); }) {}

Heartbeat::~Heartbeat() { StopThread(); }

void Heartbeat::StopThread() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    changed_.notify_all();
  }
  if (thread_.joinable()) thread_.join();
}

void Heartbeat::Finish() {
  StopThread();
  const Deadline deadline = Deadline::After(options_.lease);
  do {
    if (!Send(false, drain_barrier_.next_step(), deadline)) {
      throw CommError("coordinator", "sending the last rows", "no answer in time");
    }
  } while (!buffer_.empty());
}

void Heartbeat::Run() {
  auto last_answer = AwakeNow();
  std::chrono::milliseconds pause{0};
  int refusals = 0;  // in turn
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, pause, [this] { return stopping_; }) && !ended_) {
    lock.unlock();
    std::string reason = "no answer";
    pause = options_.interval;
    try {
      const auto left = last_answer + options_.lease - AwakeNow();
      if (const auto next = BeatOnce(Deadline::After(left))) {
        pause = *next;
        last_answer = AwakeNow();
        refusals = 0;
      } else if (suspended_) {
        last_answer = AwakeNow();
      }
    } catch (const std::exception& error) {
      reason = error.what();
      refusals = client_.HasEnded() ? refusals + 1 : 0;
    }
    const bool has_ended = refusals >= kRefusals;
    if (has_ended) reason = "nothing listens at its address any more";
    const auto silent = AwakeNow() - last_answer;
    if (!ended_ && (has_ended || silent >= options_.lease)) {
      End({.silent = true,
           .reason = fmt::format("it was silent for {:.2f} s ({})",
                                 std::chrono::duration<double>(silent).count(), reason)});
    }
    // The lease may end before the next beat.
    pause = std::min(pause, std::chrono::ceil<std::chrono::milliseconds>(options_.lease - silent));
    lock.lock();
  }
}

void Heartbeat::End(const HeartbeatEnd& end) {
  ended_ = true;
  drain_barrier_.Break(end.reason);
  on_end_(end);
}

std::optional<HeartbeatCommand> Heartbeat::Send(bool held, std::int64_t next_step,
                                                const Deadline& deadline) {
  if (!unanswered_) {
    unanswered_ = buffer_.Take(kRowsPerBeat);
    unanswered_->rows_number = ++rows_number_;
  }
  unanswered_->held = held;
  unanswered_->next_step = next_step;
  if (options_.activity) {
    const ActivityBoard::Entry entry = options_.activity();
    unanswered_->activity = entry.activity;
    const std::chrono::duration<double> lasted = ActivityBoard::Clock::now() - entry.since;
    unanswered_->activity_seconds =
        entry.activity.kind == Activity::Kind::kUnknown ? 0 : lasted.count();
  }
  std::optional<HeartbeatCommand> order = client_.SendHeartbeat(*unanswered_, deadline);
  if (order) unanswered_.reset();
  return order;
}

std::optional<std::chrono::milliseconds> Heartbeat::BeatOnce(const Deadline& deadline) {
  if (options_.before_beat) options_.before_beat();
  const bool held = held_ || (options_.wants_drain && options_.wants_drain());
  const std::int64_t next_step = held_ ? drain_barrier_.Hold() : drain_barrier_.next_step();
  const std::optional<HeartbeatCommand> order = Send(held, next_step, deadline);
  if (!order) return std::nullopt;
  suspended_ = order->kind == HeartbeatCommand::Kind::kSuspended;
  return Follow(*order);
}

std::chrono::milliseconds Heartbeat::Follow(const HeartbeatCommand& order) {
  switch (order.kind) {
    case HeartbeatCommand::Kind::kGoOn:
    case HeartbeatCommand::Kind::kSuspended:
      break;
    case HeartbeatCommand::Kind::kHold:
      drain_barrier_.Hold();
      // The next beat follows immediately and carries the step.
      return std::exchange(held_, true) ? kHeldInterval : std::chrono::milliseconds{0};
    case HeartbeatCommand::Kind::kStopAt:
      if (!std::exchange(decided_, true)) drain_barrier_.StopAt(order.stop_step);
      break;
    case HeartbeatCommand::Kind::kAbort:
      End({.silent = false, .reason = order.reason});
      break;
  }
  return options_.interval;
}

}  // namespace ringside

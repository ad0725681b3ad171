#include "ringside/experiments/job/coordinator/heartbeat.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "ringside/common/core/errors.h"

namespace ringside {
namespace {

// Keeps a beat far below the coordinator's 4 MiB.
constexpr std::size_t kRowsPerBeat = 8192;
// The interval is short while the workers agree on their last step, because all of them wait.
constexpr std::chrono::milliseconds kHeldInterval{10};

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
                     std::function<void(const std::string&)> on_end)
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
  do {
    Beat beat = buffer_.Take(kRowsPerBeat);
    beat.next_step = drain_barrier_.next_step();
    client_.SendHeartbeat(beat, Deadline::After(options_.lease));
  } while (!buffer_.empty());
}

void Heartbeat::Run() {
  auto last_answer = std::chrono::steady_clock::now();
  std::chrono::milliseconds pause{0};
  std::unique_lock lock(mutex_);
  while (!changed_.wait_for(lock, pause, [this] { return stopping_; }) && !ended_) {
    lock.unlock();
    try {
      pause = BeatOnce();
      last_answer = std::chrono::steady_clock::now();
    } catch (const std::exception& error) {
      pause = options_.interval;
      if (std::chrono::steady_clock::now() - last_answer > options_.lease) {
        ended_ = true;
        drain_barrier_.Break(error.what());
        on_end_(error.what());
      }
    }
    lock.lock();
  }
}

std::chrono::milliseconds Heartbeat::BeatOnce() {
  if (options_.before_beat) options_.before_beat();
  // A failed call loses its rows. But then the coordinator has gone, so the rows are not needed.
  Beat beat = buffer_.Take(kRowsPerBeat);
  beat.held = held_ || (options_.wants_drain && options_.wants_drain());
  beat.next_step = held_ ? drain_barrier_.Hold() : drain_barrier_.next_step();
  const HeartbeatCommand order =
      client_.SendHeartbeat(beat, Deadline::After(options_.silence_timeout));
  switch (order.kind) {
    case HeartbeatCommand::Kind::kGoOn:
      return options_.interval;
    case HeartbeatCommand::Kind::kHold:
      drain_barrier_.Hold();
      // The next beat follows immediately and carries the step.
      return std::exchange(held_, true) ? kHeldInterval : std::chrono::milliseconds{0};
    case HeartbeatCommand::Kind::kStopAt:
      if (!std::exchange(decided_, true)) drain_barrier_.StopAt(order.stop_step);
      return options_.interval;
    case HeartbeatCommand::Kind::kAbort:
      ended_ = true;
      drain_barrier_.Break(order.reason);
      on_end_(order.reason);
      return options_.interval;
  }
  return options_.interval;
}

}  // namespace ringside

#include "ringside/paramserver/server/consistency.h"

#include <algorithm>
#include <limits>
#include <string>

#include "ringside/paramserver/wire/refusal.h"

namespace ringside {
namespace {

std::string Name(const PushInfo& push) {
  return "push of worker " + std::to_string(push.worker) + ", step " + std::to_string(push.step);
}

void CheckStep(const PushInfo& push, std::int64_t expected) {
  if (push.step == expected) return;
  throw RefusedError(RefusalCode::kPrecondition,
                     Name(push) + " is refused: step " + std::to_string(expected) + " is due");
}

[[noreturn]] void RefuseVersion(const PushInfo& push, std::int64_t version) {
  throw RefusedError(RefusalCode::kPrecondition,
                     Name(push) + " is refused: it comes from version " +
                         std::to_string(push.version) + ", the shard is at version " +
                         std::to_string(version));
}

void CheckVersionWas(const PushInfo& push, std::int64_t version) {
  if (push.version < 0 || push.version > version) RefuseVersion(push, version);
}

/// Which workers the job goes on without.
class DroppedWorkers {
 public:
  explicit DroppedWorkers(int workers) : dropped_(static_cast<std::size_t>(workers), false) {}

  /// False: it was dropped already.
  bool Add(int worker) {
    const auto index = static_cast<std::size_t>(worker);
    if (dropped_[index]) return false;
    dropped_[index] = true;
    return true;
  }
  bool Has(int worker) const { return dropped_[static_cast<std::size_t>(worker)]; }
  int living() const { return static_cast<int>(std::ranges::count(dropped_, false)); }
  void Refuse(const PushInfo& push) const {
    if (!Has(push.worker)) return;
    throw RefusedError({RefusalCode::kDropped,
                        Name(push) + " is refused: the job goes on without this worker",
                        "worker " + std::to_string(push.worker)});
  }

 private:
  std::vector<bool> dropped_;  // by worker
};

/// The workers that have pushed fewer than `steps` steps.
std::vector<int> Behind(const std::vector<std::int64_t>& clocks, std::int64_t steps) {
  std::vector<int> workers;
  for (std::size_t worker = 0; worker < clocks.size(); ++worker) {
    if (clocks[worker] < steps) workers.push_back(static_cast<int>(worker));
  }
  return workers;
}

class Synchronous : public Consistency {
 public:
  Synchronous(int workers, const Schedule& schedule, int backups)
      : schedule_(schedule),
        most_needed_(workers - backups),
        clocks_(static_cast<std::size_t>(workers), 0),
        dropped_(workers) {}

  std::int64_t Start(std::int64_t step) override {
    std::ranges::fill(clocks_, step);
    answered_.reserve(clocks_.size());
    return step_ = step;
  }

  // A worker gets its answer when its step has closed. So it is at most one push ahead of the open
  // step, and its next gradient belongs to the version in that answer.
  PushDecision OnPush(const PushInfo& push, std::int64_t version) override {
    dropped_.Refuse(push);
    std::int64_t& clock = clocks_[static_cast<std::size_t>(push.worker)];
    if (push.step == step_ && clock > step_) {
      throw RefusedError(RefusalCode::kDuplicate, Name(push) + " has been made already");
    }
    CheckStep(push, std::min(clock, step_));
    if (push.step < step_) return DropGradient(push, version, clock);
    if (push.version != version) RefuseVersion(push, version);
    if (push.learning_rate) given_rate_ = push.learning_rate;
    ++clock;
    ++pushed_;
    PushDecision verdict{.order = push.worker};
    if (MayClose()) Close(verdict);
    return verdict;
  }

  PushDecision OnDrop(int worker) override {
    PushDecision verdict;
    if (!dropped_.Add(worker)) return verdict;
    if (clocks_[static_cast<std::size_t>(worker)] > step_) ++pushed_by_dropped_;
    if (MayClose()) Close(verdict);
    return verdict;
  }

  std::vector<int> Missing() const override {
    std::vector<int> behind = Behind(clocks_, step_ + 1);
    std::erase_if(behind, [this](int worker) { return dropped_.Has(worker); });
    return behind;
  }

 private:
  // Only gradients of living workers count. So the last gradient of a lost worker does not make
  // that of a living one late.
  bool MayClose() const {
    const int living = dropped_.living();
    return living > 0 && pushed_ - pushed_by_dropped_ >= std::min(most_needed_, living);
  }

  PushDecision DropGradient(const PushInfo& push, std::int64_t version, std::int64_t& clock) {
    CheckVersionWas(push, version);
    ++clock;
    answered_.assign(1, push.worker);
    return {.use_gradient = false, .answer = answered_};
  }

  void Close(PushDecision& verdict) {
    verdict.apply = Update{step_ + 1, given_rate_.value_or(schedule_.At(step_))};
    verdict.scale = static_cast<float>(clocks_.size()) / static_cast<float>(pushed_);
    ++step_;
    pushed_ = 0;
    pushed_by_dropped_ = 0;
    answered_.clear();
    for (std::size_t worker = 0; worker < clocks_.size(); ++worker) {
      if (clocks_[worker] == step_) answered_.push_back(static_cast<int>(worker));
    }
    verdict.answer = answered_;
  }

  const Schedule& schedule_;
  const int most_needed_;             // gradients of an update, while there are as many workers
  std::vector<std::int64_t> clocks_;  // steps that each worker has pushed
  std::int64_t step_ = 0;             // of the open update
  std::optional<double> given_rate_;  // of the open update, if workers decide it
  int pushed_ = 0;                    // gradients in it
  int pushed_by_dropped_ = 0;         // of these, from workers that were dropped afterwards
  DroppedWorkers dropped_;
  std::vector<int> answered_;  // by the last call
};

class Asynchronous : public Consistency {
 public:
  Asynchronous(int workers, const Schedule& schedule, const AsynchronousOptions& options)
      : schedule_(schedule),
        options_(options),
        clocks_(static_cast<std::size_t>(workers), 0),
        waiting_(static_cast<std::size_t>(workers), false),
        retired_until_(static_cast<std::size_t>(workers), 0),
        dropped_(workers) {}

  std::int64_t Start(std::int64_t step) override {
    std::ranges::fill(clocks_, step);
    std::ranges::fill(retired_until_, 0);
    barrier_ = 0;
    answered_.reserve(clocks_.size());
    return step * static_cast<std::int64_t>(clocks_.size());
  }

  PushDecision OnPush(const PushInfo& push, std::int64_t version) override {
    dropped_.Refuse(push);
    std::int64_t& clock = clocks_[static_cast<std::size_t>(push.worker)];
    CheckStep(push, clock);
    CheckVersionWas(push, version);
    CheckAnswered(push);
    CheckNotRetired(push);
    ++clock;
    waiting_[static_cast<std::size_t>(push.worker)] = true;
    return {.apply = Update{version + 1, LearningRate(push, version)}, .answer = TakeAnswered()};
  }

  std::span<const int> OnRetire(int worker, std::int64_t barrier) override {
    std::int64_t& until = retired_until_[static_cast<std::size_t>(worker)];
    if (barrier > barrier_) until = std::max(until, barrier);
    return TakeAnswered();
  }

  PushDecision OnDrop(int worker) override {
    dropped_.Add(worker);
    waiting_[static_cast<std::size_t>(worker)] = false;
    return {.answer = TakeAnswered()};
  }

  void OnBarrier(std::int64_t barrier) override {
    barrier_ = std::max(barrier_, barrier);
    for (std::int64_t& until : retired_until_) {
      if (until <= barrier) until = 0;
    }
  }

  std::vector<int> Missing() const override {
    std::int64_t awaited = 0;  // steps of all workers that a waiting worker needs
    for (std::size_t worker = 0; worker < clocks_.size(); ++worker) {
      if (waiting_[worker]) awaited = std::max(awaited, NeededBy(worker));
    }
    std::vector<int> behind = Behind(clocks_, awaited);
    std::erase_if(behind,
                  [this](int worker) { return WillNotPush(static_cast<std::size_t>(worker)); });
    return behind;
  }

 private:
  // A worker stays within the bound only because it waits for its answer.
  void CheckAnswered(const PushInfo& push) const {
    if (!waiting_[static_cast<std::size_t>(push.worker)]) return;
    throw RefusedError(RefusalCode::kDuplicate,
                       Name(push) + " is refused: the one before it waits for its answer");
  }

  // A retired worker has announced that it will not push. Others may be any number of steps ahead.
  void CheckNotRetired(const PushInfo& push) const {
    if (!Retired(static_cast<std::size_t>(push.worker))) return;
    throw RefusedError(RefusalCode::kPrecondition,
                       Name(push) + " is refused: its worker has retired from this round");
  }

  bool Retired(std::size_t worker) const { return retired_until_[worker] > 0; }
  bool WillNotPush(std::size_t worker) const {
    return Retired(worker) || dropped_.Has(static_cast<int>(worker));
  }

  double LearningRate(const PushInfo& push, std::int64_t version) const {
    const double scheduled = push.learning_rate.value_or(
        schedule_.At(version / static_cast<std::int64_t>(clocks_.size())));
    if (!options_.staleness_lr) return scheduled;
    return scheduled / static_cast<double>(1 + version - push.version);
  }

  /// How many steps every worker must have pushed before this one is answered.
  std::int64_t NeededBy(std::size_t worker) const {
    return options_.staleness_bound ? clocks_[worker] - *options_.staleness_bound : 0;
  }

  std::span<const int> TakeAnswered() {
    std::int64_t slowest = std::numeric_limits<std::int64_t>::max();  // of those that push
    for (std::size_t worker = 0; worker < clocks_.size(); ++worker) {
      if (!WillNotPush(worker)) slowest = std::min(slowest, clocks_[worker]);
    }
    answered_.clear();
    for (std::size_t worker = 0; worker < clocks_.size(); ++worker) {
      if (!waiting_[worker] || NeededBy(worker) > slowest) continue;
      waiting_[worker] = false;
      answered_.push_back(static_cast<int>(worker));
    }
    return answered_;
  }

  const Schedule& schedule_;
  const AsynchronousOptions options_;
  std::vector<std::int64_t> clocks_;         // steps that each worker has pushed
  std::vector<bool> waiting_;                // by worker: pushed and not answered
  std::vector<std::int64_t> retired_until_;  // number of a barrier, by worker; 0: not retired
  std::int64_t barrier_ = 0;                 // the last one that all workers have reached
  DroppedWorkers dropped_;
  std::vector<int> answered_;  // by the last call
};

}  // namespace

std::unique_ptr<Consistency> MakeSynchronous(int workers, const Schedule& schedule, int backups) {
  return std::make_unique<Synchronous>(workers, schedule, backups);
}

std::unique_ptr<Consistency> MakeAsynchronous(int workers, const Schedule& schedule,
                                              const AsynchronousOptions& options) {
  return std::make_unique<Asynchronous>(workers, schedule, options);
}

}  // namespace ringside

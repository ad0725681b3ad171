#include "paramserver/consistency.h"

#include <algorithm>
#include <string>

#include "paramserver/refusal.h"

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

class Synchronous : public Consistency {
 public:
  Synchronous(int workers, const Schedule& schedule)
      : schedule_(schedule), pushed_(static_cast<std::size_t>(workers), false) {}

  std::int64_t Start(std::int64_t step) override { return step_ = step; }

  Verdict OnPush(const PushInfo& push, std::int64_t version) override {
    CheckStep(push, step_);
    if (push.version != version) RefuseVersion(push, version);
    std::vector<bool>::reference pushed = pushed_[static_cast<std::size_t>(push.worker)];
    if (pushed) throw RefusedError(RefusalCode::kDuplicate, Name(push) + " has been made already");
    pushed = true;
    Verdict verdict{.order = push.worker};
    if (Missing().empty()) Close(verdict);
    return verdict;
  }

  std::vector<int> Missing() const override {
    std::vector<int> missing;
    for (std::size_t worker = 0; worker < pushed_.size(); ++worker) {
      if (!pushed_[worker]) missing.push_back(static_cast<int>(worker));
    }
    return missing;
  }

 private:
  void Close(Verdict& verdict) {
    verdict.apply = Update{step_ + 1, schedule_.At(step_)};
    for (std::size_t worker = 0; worker < pushed_.size(); ++worker) {
      verdict.answer.push_back(static_cast<int>(worker));
    }
    pushed_.assign(pushed_.size(), false);
    ++step_;
  }

  const Schedule& schedule_;
  std::vector<bool> pushed_;  // by worker, in the open update
  std::int64_t step_ = 0;     // of the open update
};

class Asynchronous : public Consistency {
 public:
  Asynchronous(int workers, const Schedule& schedule)
      : schedule_(schedule), steps_(static_cast<std::size_t>(workers), 0) {}

  std::int64_t Start(std::int64_t step) override {
    std::ranges::fill(steps_, step);
    return step * static_cast<std::int64_t>(steps_.size());
  }

  Verdict OnPush(const PushInfo& push, std::int64_t version) override {
    std::int64_t& step = steps_[static_cast<std::size_t>(push.worker)];
    CheckStep(push, step);
    if (push.version < 0 || push.version > version) RefuseVersion(push, version);
    ++step;
    const auto workers = static_cast<std::int64_t>(steps_.size());
    return {.apply = Update{version + 1, schedule_.At(version / workers)}, .answer = {push.worker}};
  }

  std::vector<int> Missing() const override { return {}; }

 private:
  const Schedule& schedule_;
  std::vector<std::int64_t> steps_;  // next step of each worker
};

}  // namespace

std::unique_ptr<Consistency> MakeSynchronous(int workers, const Schedule& schedule) {
  return std::make_unique<Synchronous>(workers, schedule);
}

std::unique_ptr<Consistency> MakeAsynchronous(int workers, const Schedule& schedule) {
  return std::make_unique<Asynchronous>(workers, schedule);
}

}  // namespace ringside

#include "ringside/experiments/program/step_handover.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "ringside/common/base/errors.h"
#include "ringside/common/core/bucket.h"

namespace ringside {

template <typename Ready>
void StepHandover::WaitOnTrainingThread(std::unique_lock<std::mutex>& lock, const Ready& ready) {
  changed_.wait(lock, [&] { return failure_ != nullptr || ready(); });
  if (failure_ != nullptr) std::rethrow_exception(failure_);
}

template <typename Ready>
void StepHandover::WaitInProgram(std::unique_lock<std::mutex>& lock, const Ready& ready) {
  changed_.wait(lock, ready);
}

void StepHandover::WaitForStrategy(std::unique_lock<std::mutex>& lock) {
  WaitInProgram(lock,
                [this] { return turn_ != Turn::kTraining && (turn_ != Turn::kParked || !began_); });
}

bool StepHandover::InStep() const {
  return turn_ == Turn::kStepping || (turn_ == Turn::kParked && began_);
}

template <typename Call>
void StepHandover::Borrowed(Strategy& strategy, const Call& call) {
  try {
    call(strategy);
  } catch (...) {
    HandOver(std::current_exception());
  }
}

void StepHandover::HandOver(const std::exception_ptr& failure) {
  std::unique_lock lock(mutex_);
  failure_ = failure;
  changed_.notify_all();
  // The training thread reports the failure and ends the process, unless it has ended before.
  changed_.wait(lock, [this] { return turn_ == Turn::kFinished; });
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
  } catch (...) {
    fmt::print(stderr, "the program failed\n");
  }
  std::fflush(stderr);
  ::_exit(1);
}

Bucket StepHandover::BucketOf(int bucket, std::int64_t step) const {
  return MakeBucket(*memory_.space, *memory_.plan, bucket, step);
}

// The program's thread

const StepHandover::Job& StepHandover::Join() {
  std::unique_lock lock(mutex_);
  WaitInProgram(lock, [this] { return job_.has_value(); });
  if (!job_) throw InternalError("the worker has joined no job");
  return *job_;
}

StepHandover::Memory StepHandover::Register(std::vector<TensorSpec> tensors, ModelUpdate update) {
  std::unique_lock lock(mutex_);
  if (tensors_) throw ConfigError("the parameters are registered already; one model a program");
  update_ = std::move(update);
  tensors_ = std::move(tensors);
  changed_.notify_all();
  WaitInProgram(lock, [this] { return memory_.space != nullptr; });
  return memory_;
}

void StepHandover::Loaded() {
  std::unique_lock lock(mutex_);
  if (memory_.space == nullptr) throw ConfigError("no parameters are registered");
  loaded_ = true;
  changed_.notify_all();
  WaitInProgram(lock, [this] { return turn_ != Turn::kTraining; });
}

bool StepHandover::WaitForTurn() {
  std::unique_lock lock(mutex_);
  if (!loaded_) throw ConfigError("the parameters are not in place yet");
  WaitInProgram(lock, [this] { return turn_ != Turn::kTraining; });
  return turn_ != Turn::kFinished;
}

void StepHandover::Await(int bucket) {
  std::unique_lock lock(mutex_);
  if (!loaded_) throw ConfigError("the parameters are not in place yet");
  WaitForStrategy(lock);
  if (turn_ == Turn::kFinished) return;  // All buckets are settled.
  Strategy& strategy = *strategy_;
  const std::int64_t step = step_;
  lock.unlock();
  Borrowed(strategy, [&](Strategy& lent) { lent.Await(BucketOf(bucket, step)); });
}

bool StepHandover::Begin(Clock::time_point began, std::optional<Clock::time_point> forward_end) {
  std::unique_lock lock(mutex_);
  if (!loaded_) throw ConfigError("the parameters are not in place yet");
  if (InStep()) return true;
  WaitInProgram(lock, [this] { return turn_ != Turn::kTraining; });
  if (turn_ == Turn::kFinished) return false;
  result_ = {.forward_end = forward_end};
  began_ = began;
  changed_.notify_all();
  return true;
}

void StepHandover::Submit(int bucket) {
  std::unique_lock lock(mutex_);
  if (!InStep()) throw ConfigError("a gradient came outside of a step");
  WaitForStrategy(lock);
  Strategy& strategy = *strategy_;
  const std::int64_t step = step_;
  lock.unlock();
  Borrowed(strategy, [&](Strategy& lent) { lent.Submit(BucketOf(bucket, step)); });
}

void StepHandover::EndStep(double loss_sum, std::size_t samples) {
  std::unique_lock lock(mutex_);
  if (!InStep()) throw ConfigError("no step has begun");
  WaitForStrategy(lock);
  result_.loss_sum = loss_sum;
  result_.samples = samples;
  step_done_ = true;
  turn_ = Turn::kTraining;
  ++step_;
  changed_.notify_all();
}

std::int64_t StepHandover::step() const {
  const std::lock_guard lock(mutex_);
  return step_;
}

bool StepHandover::in_step() const {
  const std::lock_guard lock(mutex_);
  return InStep();
}

bool StepHandover::loaded() const {
  const std::lock_guard lock(mutex_);
  return loaded_;
}

bool StepHandover::finished() const {
  const std::lock_guard lock(mutex_);
  return turn_ == Turn::kFinished;
}

void StepHandover::End() {
  std::unique_lock lock(mutex_);
  if (InStep()) {
    lock.unlock();
    HandOver(std::make_exception_ptr(ProgramError(
        fmt::format("the program ended inside of step {}: gradients were computed, but the "
                    "optimizer's step() was not called",
                    step()))));
  }
  program_ended_ = true;
  changed_.notify_all();
  WaitInProgram(lock, [this] { return turn_ == Turn::kFinished; });
}

// The training thread

void StepHandover::SetJoined(Job job) {
  const std::lock_guard lock(mutex_);
  job_ = std::move(job);
  changed_.notify_all();
}

const std::vector<TensorSpec>& StepHandover::WaitForTensors() {
  std::unique_lock lock(mutex_);
  WaitOnTrainingThread(lock, [this] { return tensors_ || program_ended_; });
  if (!tensors_) {
    throw ProgramError(
        "the program ended without registering parameters: it made no DistributedOptimizer, and "
        "handed over no gradients");
  }
  return *tensors_;
}

void StepHandover::LendMemory(FlatSpace& space, const BucketPlan& plan) {
  std::unique_lock lock(mutex_);
  memory_ = {&space, &plan};
  changed_.notify_all();
  WaitOnTrainingThread(lock, [this] { return loaded_ || program_ended_; });
}

std::optional<StepHandover::Clock::time_point> StepHandover::WaitForBegin(std::int64_t step,
                                                                          Strategy& strategy) {
  std::unique_lock lock(mutex_);
  turn_ = Turn::kParked;
  strategy_ = &strategy;
  step_ = step;
  began_.reset();
  changed_.notify_all();
  // A step that has begun before the program failed is one in which it computes.
  changed_.wait(lock, [this] { return began_ || program_ended_ || failure_ != nullptr; });
  if (began_) return began_;
  if (failure_ != nullptr) std::rethrow_exception(failure_);
  turn_ = Turn::kTraining;
  return std::nullopt;
}

StepHandover::StepResult StepHandover::WaitForStep(Strategy& strategy) {
  std::unique_lock lock(mutex_);
  turn_ = Turn::kStepping;
  strategy_ = &strategy;
  step_done_ = false;
  changed_.notify_all();
  WaitOnTrainingThread(lock, [this] { return step_done_; });
  return result_;
}

void StepHandover::KeepMemory(FlatSpace space) {
  const std::lock_guard lock(mutex_);
  kept_ = std::move(space);
}

void StepHandover::SetFinished() {
  const std::lock_guard lock(mutex_);
  turn_ = Turn::kFinished;
  strategy_ = nullptr;
  changed_.notify_all();
}

}  // namespace ringside

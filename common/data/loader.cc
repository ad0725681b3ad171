#include "ringside/common/data/loader.h"

#include <algorithm>
#include <string>

#include "ringside/common/base/deadline.h"
#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

/// Shuffling samples that hold nothing would cost every worker time and memory.
Sampler::Order OrderOf(const Dataset& dataset) {
  const bool empty =
      dataset.shape().elements() == 0 && dataset.targets() == 0 && dataset.classes() == 1;
  return empty ? Sampler::Order::kUnchanged : Sampler::Order::kShuffled;
}

}  // namespace

Loader::Loader(const Dataset& dataset, const World& world, const Options& options)
    : dataset_(dataset),
      world_(world),
      options_(options),
      sampler_(dataset.size(Split::kTrain), options.global_batch, options.seed, OrderOf(dataset)),
      slots_(static_cast<std::size_t>(std::max(1, options.ahead)) + 1),
      thread_([this] { Run(); }) {}

Loader::~Loader() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

const Batch& Loader::Next() {
  std::unique_lock lock(mutex_);
  const std::int64_t step = options_.first_step + consumed_;
  if (step >= options_.end_step) {
    throw InternalError("no batch after step " + std::to_string(options_.end_step - 1));
  }
  const auto ready = [this] { return filled_ > consumed_ || failure_ != nullptr; };
  if (!changed_.wait_until(lock, Deadline::After(options_.timeout).at(), ready)) {
    throw CommError("the loader thread", "reading the batch of step " + std::to_string(step),
                    "it is not there in time");
  }
  if (filled_ == consumed_) std::rethrow_exception(failure_);
  const auto slot = static_cast<std::size_t>(consumed_) % slots_.size();
  ++consumed_;  // gives the previous batch back to the thread
  changed_.notify_all();
  return slots_[slot].batch;
}

// Only this thread uses the slot that is being filled, so it needs no lock.
// No deadline: it waits only for the owner of this loader, which wakes it when it ends.
void Loader::Run() {
  try {
    const auto ahead = static_cast<std::int64_t>(slots_.size()) - 1;
    for (std::int64_t step = options_.first_step; step < options_.end_step; ++step) {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return stopping_ || filled_ < consumed_ + ahead; });
      if (stopping_) return;
      Slot& slot = slots_[static_cast<std::size_t>(filled_) % slots_.size()];
      lock.unlock();
      Fill(slot, step);
      lock.lock();
      ++filled_;
      changed_.notify_all();
    }
  } catch (...) {
    const std::lock_guard lock(mutex_);
    failure_ = std::current_exception();
    changed_.notify_all();
  }
}

void Loader::Fill(Slot& slot, std::int64_t step) {
  const std::vector<std::size_t> indices = sampler_.Indices(step, world_.rank, world_.workers);
  slot.batch = {.step = step,
                .epoch = step / sampler_.steps_per_epoch(),
                .samples = indices.size(),
                .global_samples = sampler_.GlobalSamples(step)};
  slot.buffer.Read(dataset_, Split::kTrain, indices, slot.batch);
}

}  // namespace ringside

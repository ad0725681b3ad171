#ifndef RINGSIDE_COMMON_DATA_LOADER_H_
#define RINGSIDE_COMMON_DATA_LOADER_H_

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "ringside/common/core/world.h"
#include "ringside/common/data/dataset.h"
#include "ringside/common/data/sampler.h"

namespace ringside {

/// Reads this worker's training batches ahead of time on a thread of its own, in step order.
/// Borrows the dataset. Used by one consumer thread; may be destroyed at any time, which waits for
/// the batch being read.
class Loader {
 public:
  struct Options {
    std::size_t global_batch = 64;
    std::uint64_t seed = 1;
    std::int64_t first_step = 0;
    std::int64_t end_step = 0;                  ///< One past the last step.
    int ahead = 2;                              ///< Batches prepared in advance, >= 1.
    std::chrono::milliseconds timeout{30'000};  ///< Of one wait for the thread.
  };

  Loader(const Dataset& dataset, const World& world, const Options& options);
  ~Loader();

  /// The next batch, valid until the following call. `gradient_scale` is left at 1: the trainer
  /// knows the averaging. Rethrows what the thread threw, after the batches read before; throws
  /// `CommError` when the thread takes too long. Calling past `end_step` throws `InternalError`.
  const Batch& Next();
  std::int64_t steps_per_epoch() const { return sampler_.steps_per_epoch(); }

 private:
  struct Slot {
    Batch batch;
    std::vector<float> inputs;
    std::vector<std::int64_t> labels;
  };

  void Run();
  void Fill(Slot& slot, std::int64_t step);

  const Dataset& dataset_;
  const World world_;
  const Options options_;
  Sampler sampler_;
  std::vector<Slot> slots_;  // a ring of ahead + 1: one of them is with the consumer

  std::mutex mutex_;
  std::condition_variable changed_;
  std::int64_t filled_ = 0;     // batches ready since the start, guarded by mutex_
  std::int64_t consumed_ = 0;   // batches handed out, guarded by mutex_
  bool stopping_ = false;       // guarded by mutex_
  std::exception_ptr failure_;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_DATA_LOADER_H_

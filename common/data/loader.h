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
#include "ringside/common/data/sample_buffer.h"
#include "ringside/common/data/sampler.h"

namespace ringside {

/// Reads this worker's training batches ahead of time, in step order, on a thread of its own.
/// Borrows the dataset. One consumer thread uses it. It may be destroyed at any time; destruction
/// waits for the batch that is being read.
class Loader {
 public:
  struct Options {
    std::size_t global_batch = 64;
    std::uint64_t seed = 1;
    std::int64_t first_step = 0;
    std::int64_t end_step = 0;                  ///< One past the last step.
    int ahead = 2;                              ///< Batches prepared in advance, >= 1.
    std::chrono::milliseconds timeout{30'000};  ///< Limit of one wait for the thread.
  };

  Loader(const Dataset& dataset, const World& world, const Options& options);
  ~Loader();

  /// Returns the next batch, which is valid until the next call. `gradient_scale` stays 1, because
  /// only the trainer knows the averaging. If the thread threw, the error is thrown here after the
  /// batches that were read before it. Throws `CommError` when the thread takes too long, and
  /// `InternalError` past `end_step`.
  const Batch& Next();
  std::int64_t steps_per_epoch() const { return sampler_.steps_per_epoch(); }

 private:
  struct Slot {
    Batch batch;
    SampleBuffer buffer;
  };

  void Run();
  void Fill(Slot& slot, std::int64_t step);

  const Dataset& dataset_;
  const World world_;
  const Options options_;
  Sampler sampler_;
  std::vector<Slot> slots_;  // a ring of ahead + 1 batches; the consumer uses one of them

  std::mutex mutex_;
  std::condition_variable changed_;
  std::int64_t filled_ = 0;     // batches ready since the start, guarded by mutex_
  std::int64_t consumed_ = 0;   // batches given to the consumer, guarded by mutex_
  bool stopping_ = false;       // guarded by mutex_
  std::exception_ptr failure_;  // guarded by mutex_
  std::thread thread_;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_DATA_LOADER_H_

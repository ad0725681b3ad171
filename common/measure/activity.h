#ifndef RINGSIDE_COMMON_MEASURE_ACTIVITY_H_
#define RINGSIDE_COMMON_MEASURE_ACTIVITY_H_

#include <cstdint>
#include <mutex>
#include <string>

#include "ringside/common/core/dilated_clock.h"

namespace ringside {

/// What the training thread of a worker is doing. A plain value.
struct Activity {
  enum class Kind {
    kUnknown,  ///< It is no worker, or has not begun.
    kStart,    ///< Meets the others.
    kHeld,     ///< Waits until a step may start.
    kData,     ///< Waits for a batch.
    kCompute,  ///< Forward and backward pass.
    kAwait,    ///< Waits for a bucket's synchronisation.
    kSettle,   ///< Waits for all workers at a pause.
    kEvaluate,
    kCheckpoint,
    kStop,  ///< Takes leave of the others.
  };
  Kind kind = Kind::kUnknown;
  /// The step of the training thread, or the steps done at a pause. The bucket that it waits for
  /// may be of the step before.
  std::int64_t step = 0;
  int bucket = -1;  ///< Of kAwait.

  bool operator==(const Activity&) const = default;
  /// Whether it surely waits for other processes.
  bool waits_for_others() const;
  /// "waits for bucket 3 in step 17", "computes step 17". Empty for kUnknown.
  std::string Text() const;
};

/// Where the training thread writes what it does. Other threads read it. Thread-safe.
class ActivityBoard {
 public:
  using Clock = DilatedClock;
  struct Entry {
    Activity activity;
    Clock::time_point since;
  };

  /// `since`: when it began.
  void Set(const Activity& activity, Clock::time_point since = Clock::now());
  Entry Get() const;

 private:
  mutable std::mutex mutex_;
  Entry entry_;  // guarded by mutex_
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_MEASURE_ACTIVITY_H_

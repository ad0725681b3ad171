#ifndef RINGSIDE_COMMON_OPTIM_SCHEDULE_H_
#define RINGSIDE_COMMON_OPTIM_SCHEDULE_H_

#include <cstdint>
#include <memory>
#include <mutex>

namespace ringside {

/// The learning rates of a program that decides them step by step. Thread-safe.
class GivenRates {
 public:
  explicit GivenRates(double first_rate) : rate_(first_rate), rate_before_(first_rate) {}

  /// Sets the rate from `step` on. Steps ascend.
  void Set(std::int64_t step, double rate);
  /// Knows the rate of the last step that was set, of later ones, and of the one before.
  double At(std::int64_t step) const;

 private:
  mutable std::mutex mutex_;
  std::int64_t step_ = 0;  // guarded by mutex_
  double rate_;            // from step_ on, guarded by mutex_
  double rate_before_;     // guarded by mutex_
};

struct ScheduleOptions {
  enum class Kind { kConstant, kStep, kCosine };
  Kind kind = Kind::kConstant;
  double base = 0.1;                ///< Learning rate before scaling and warm-up.
  bool scale_with_workers = false;  ///< Linear scaling rule (Goyal et al., 2017): base x workers.
  int workers = 1;
  /// Linear from base / warmup_steps at step 0 to the (scaled) rate at step warmup_steps - 1.
  std::int64_t warmup_steps = 0;
  std::int64_t total_steps = 1;  ///< For cosine: the rate reaches `final_fraction` here.
  std::int64_t step_every = 1;   ///< For step: decays at every multiple, warm-up counted.
  double gamma = 0.1;            ///< For step: factor of a decay.
  double final_fraction = 0;     ///< For cosine: last rate / peak rate.
  /// If set, these rates count, and nothing above does.
  std::shared_ptr<const GivenRates> given = nullptr;
};

/// The learning rate as a pure function of the 0-based global step, so workers and servers compute
/// the same.
class Schedule {
 public:
  explicit Schedule(const ScheduleOptions& options) : options_(options) {}
  double At(std::int64_t step) const;
  /// Whether a program decides the rates, so that other processes cannot compute them.
  bool is_given() const { return options_.given != nullptr; }

 private:
  ScheduleOptions options_;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_OPTIM_SCHEDULE_H_

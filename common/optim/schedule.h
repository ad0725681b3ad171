#ifndef RINGSIDE_COMMON_OPTIM_SCHEDULE_H_
#define RINGSIDE_COMMON_OPTIM_SCHEDULE_H_

#include <cstdint>

namespace ringside {

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
};

/// The learning rate as a pure function of the 0-based global step, so workers and servers compute
/// the same.
class Schedule {
 public:
  explicit Schedule(const ScheduleOptions& options) : options_(options) {}
  double At(std::int64_t step) const;

 private:
  ScheduleOptions options_;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_OPTIM_SCHEDULE_H_

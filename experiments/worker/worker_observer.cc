#include "ringside/experiments/worker/worker_observer.h"

#include <fmt/format.h>

#include <cstdio>
#include <span>
#include <string>

#include "ringside/common/base/fault_point.h"
#include "ringside/experiments/system/files/sha256.h"

namespace ringside {

bool WorkerObserver::MayStart(std::int64_t step) {
  if (step == parts_.first_step) Begin();
  FaultPoint({.point = fault_points::kStepBegins, .step = step});
  stopped_ = !parts_.drain_barrier.MayStart(step, Deadline::After(parts_.timeout));
  if (!stopped_) counted_.Begins(step - parts_.first_step);
  return !stopped_;
}

void WorkerObserver::Begin() {
  parts_.before_first_step();
  bytes_at_start_ = OpenSocketBytes(parts_.coordinator);
  machine_at_start_ = ReadMachineTicks();
  if (parts_.world.rank != 0) return;
  for (const std::string& note : parts_.recorder.notes()) fmt::print(stderr, "{}\n", note);
}

void WorkerObserver::StepDone(const StepRecord& record) {
  counted_.Ends(record.step - parts_.first_step);
  parts_.buffer.Add(record);
  // The communication of the step is done here, and settling has not begun.
  if (stopped_ || record.step + 1 == parts_.end_step) TakeTotals();
}

void WorkerObserver::TakeTotals() {
  bytes_ = OpenSocketBytes(parts_.coordinator) - bytes_at_start_;
  machine_ = ReadMachineTicks() - machine_at_start_;
}

void WorkerObserver::Evaluated(const EvaluationRecord& record) {
  if (parts_.world.rank != 0) return;
  const std::span<const float> params = parts_.space.params();
  parts_.buffer.Add({record, Sha256Hex(std::as_bytes(params))});
}

}  // namespace ringside

#include "ringside/experiments/job/watch/progress.h"

#include <fmt/format.h>

#include <cmath>

#include "ringside/common/base/dilated_clock.h"

namespace ringside {
namespace {

constexpr std::chrono::seconds kWindow{10};

}  // namespace

void Progress::Add(int rank, std::span<const StepRecord> steps, Clock::time_point now) {
  if (steps.empty()) return;
  for (const StepRecord& step : steps) samples_ += static_cast<std::int64_t>(step.samples);
  const StepRecord& last = steps.back();
  if (rank == 0) {
    steps_done_ = last.step + 1;
    if (last.samples > 0) loss_ = last.loss_sum / static_cast<double>(last.samples);
  }
  recent_.push_back({now, samples_, steps_done_});
  // A step may take longer than the window. Then two of its ends are kept.
  const auto window = DilatedClock::ToMachine(Clock::duration(kWindow));
  while (now - recent_.front().at > window && recent_[1].step < steps_done_) recent_.pop_front();
}

std::string Progress::Line() const {
  if (steps_done_ == 0) return "starting";
  std::string line = fmt::format("step {}", steps_done_);
  if (has_total()) line += fmt::format("/{}", total_steps_);
  const Arrival& first = recent_.front();
  const Arrival& last = recent_.back();
  const double seconds = std::chrono::duration<double>(last.at - first.at).count();
  if (seconds > 0) {
    line += fmt::format("  {:.0f} samples/s", static_cast<double>(last.samples - first.samples) /
                                                  seconds * DilatedClock::Factor());
  }
  if (loss_) line += fmt::format("  loss {:.4f}", *loss_);
  if (seconds > 0 && last.step > first.step && total_steps_ >= last.step) {
    const double steps_per_s = static_cast<double>(last.step - first.step) / seconds;
    line +=
        "  " + DurationText(static_cast<double>(total_steps_ - last.step) / steps_per_s) + " left";
  }
  return line;
}

std::string DurationText(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

}  // namespace ringside

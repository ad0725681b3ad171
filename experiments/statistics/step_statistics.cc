#include "ringside/experiments/statistics/step_statistics.h"

#include <algorithm>

namespace ringside {
namespace {

/// The records of all ranks for every counted step.
class CommonSteps {
 public:
  CommonSteps(std::span<const std::vector<StepRecord>> ranks, std::int64_t warmup_steps)
      : ranks_(ranks), end_(ranks.empty() ? 0 : ranks.front().size()) {
    for (const auto& steps : ranks) end_ = std::min(end_, steps.size());
    const StepRange timed = TimedSteps(end_, warmup_steps);
    begin_ = timed.begin;
    timed_end_ = timed.end;
  }

  std::int64_t counted() const { return static_cast<std::int64_t>(end_ - begin_); }
  std::size_t begin() const { return begin_; }
  std::size_t timed_end() const { return timed_end_; }

  double Max(std::size_t step, double StepRecord::*value) const {
    double max = 0;
    for (const auto& steps : ranks_) max = std::max(max, steps[step].*value);
    return max;
  }

  double Mean(std::size_t step, double StepRecord::*value) const {
    double sum = 0;
    for (const auto& steps : ranks_) sum += steps[step].*value;
    return sum / static_cast<double>(ranks_.size());
  }

  std::optional<double> MedianOfMeans(double StepRecord::*value) const {
    std::vector<double> means;
    for (std::size_t step = begin_; step < timed_end_; ++step) means.push_back(Mean(step, value));
    return Quantile(std::move(means), 0.5);
  }

  std::optional<double> MeanOfMeans(double StepRecord::*value) const {
    if (begin_ == timed_end_) return std::nullopt;
    double sum = 0;
    for (std::size_t step = begin_; step < timed_end_; ++step) sum += Mean(step, value);
    return sum / static_cast<double>(timed_end_ - begin_);
  }

  /// Drops the first steps until the rest is a whole number of periods.
  void KeepWholePeriods(std::size_t period) {
    begin_ = timed_end_ - (timed_end_ - begin_) / period * period;
  }

  std::optional<double> SamplesPerSecond() const {
    double samples = 0;
    double longest_ms = 0;
    for (const auto& steps : ranks_) {
      double rank_ms = 0;
      for (std::size_t step = begin_; step < timed_end_; ++step) {
        samples += static_cast<double>(steps[step].samples);
        rank_ms += steps[step].step_ms;
      }
      longest_ms = std::max(longest_ms, rank_ms);
    }
    if (longest_ms <= 0) return std::nullopt;
    return samples / (longest_ms / 1000);
  }

  std::optional<double> LastLoss() const {
    double loss = 0;
    double samples = 0;
    for (const auto& steps : ranks_) {
      if (end_ == 0) continue;
      loss += steps[end_ - 1].loss_sum;
      samples += static_cast<double>(steps[end_ - 1].samples);
    }
    if (samples == 0) return std::nullopt;
    return loss / samples;
  }

 private:
  std::span<const std::vector<StepRecord>> ranks_;
  std::size_t end_;
  std::size_t begin_ = 0;
  std::size_t timed_end_ = 0;
};

}  // namespace

StepRange TimedSteps(std::size_t steps, std::int64_t warmup_steps) {
  const std::size_t begin =
      std::min(steps, static_cast<std::size_t>(std::max<std::int64_t>(warmup_steps, 0)));
  return {begin, begin > 0 && steps - begin > 1 ? steps - 1 : steps};
}

StepStatistics Summarize(std::span<const std::vector<StepRecord>> ranks,
                         std::int64_t warmup_steps) {
  const CommonSteps common(ranks, warmup_steps);
  std::vector<double> slowest;
  for (std::size_t step = common.begin(); step < common.timed_end(); ++step) {
    slowest.push_back(common.Max(step, &StepRecord::step_ms));
  }
  StepStatistics statistics;
  statistics.steps = common.counted();
  statistics.step_ms_median = Quantile(slowest, 0.5);
  statistics.step_ms_p10 = Quantile(slowest, 0.1);
  statistics.step_ms_p90 = Quantile(slowest, 0.9);
  statistics.compute_ms = common.MedianOfMeans(&StepRecord::compute_ms);
  statistics.forward_ms = common.MedianOfMeans(&StepRecord::forward_ms);
  statistics.exposed_comm_ms = common.MedianOfMeans(&StepRecord::exposed_comm_ms);
  statistics.submit_ms = common.MedianOfMeans(&StepRecord::submit_ms);
  statistics.data_ms = common.MedianOfMeans(&StepRecord::data_ms);
  statistics.codec_ms = common.MedianOfMeans(&StepRecord::codec_ms);
  statistics.straggler_ms = common.MeanOfMeans(&StepRecord::straggler_ms);
  statistics.samples_per_s = common.SamplesPerSecond();
  statistics.final_loss = common.LastLoss();
  return statistics;
}

std::optional<double> MeanStepMs(std::span<const std::vector<StepRecord>> ranks,
                                 std::int64_t warmup_steps, std::int64_t period) {
  CommonSteps common(ranks, warmup_steps);
  common.KeepWholePeriods(static_cast<std::size_t>(period));
  return common.MeanOfMeans(&StepRecord::step_ms);
}

}  // namespace ringside

#include "ringside/experiments/report/cells/bound_explanation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "ringside/experiments/report/cells/study_fidelity.h"
#include "ringside/experiments/statistics/quantile.h"

namespace ringside {
namespace {

constexpr char kUnexplained[] = "not explained by what was recorded";
constexpr double kWorthSaying = 0.02;       // of the bound
constexpr double kPartWorthSaying = 0.005;  // the same, for a part of a cause
constexpr double kLinkSlow = 0.98;          // of the expected goodput
constexpr double kAsSlow = 1.1;             // times the rate of the slowest kind of link
constexpr double kTimer = 0.99;
constexpr double kCongested = 0.005;  // of the segments, sent again

/// A cell's link rates, relative to those that the bound assumes.
struct LinkShares {
  std::optional<double> slowest;  ///< Each run's slowest link; median over runs, like the step.
  double fastest = 0;             ///< The fastest link of any run.
  int runs_not_ok = 0;
};

/// Not where one connection cannot measure the capacity, as with loss.
bool IsJudged(const StudyLink& link) {
  return link.ok && link.expected_bytes_per_s.value_or(0) > 0;
}

/// Of the links that are judged; infinite if there is none.
double SlowestExpected(const StudyRun& run) {
  double slowest = std::numeric_limits<double>::infinity();
  for (const StudyLink& link : run.links) {
    if (IsJudged(link)) slowest = std::min(slowest, *link.expected_bytes_per_s);
  }
  return slowest;
}

LinkShares SharesOf(const StudyCell& cell) {
  LinkShares shares;
  std::vector<double> slowest;
  for (const StudyRun* run : CountedRuns(cell)) {
    if (run->link_ok == false) ++shares.runs_not_ok;
    const double bottleneck = SlowestExpected(*run);
    double slowest_here = std::numeric_limits<double>::infinity();
    for (const StudyLink& link : run->links) {
      if (!IsJudged(link)) continue;
      const double expected = *link.expected_bytes_per_s;
      for (const auto& measured : {link.sent_bytes_per_s, link.received_bytes_per_s}) {
        // A link that carries more than the slowest kind of link can is not what holds the step up.
        if (!measured || *measured <= 0 || *measured > kAsSlow * bottleneck) continue;
        const double share = *measured / expected;
        slowest_here = std::min(slowest_here, share);
        shares.fastest = std::max(shares.fastest, share);
      }
    }
    if (std::isfinite(slowest_here)) slowest.push_back(slowest_here);
  }
  shares.slowest = Median(std::move(slowest));
  return shares;
}

/// The mean step from samples and time. The median of each step's slowest worker hides a part of
/// it.
std::optional<double> StepMsByThroughput(const StudyCell& cell) {
  const double samples_per_s = cell.samples_per_s.value_or(0);
  if (samples_per_s <= 0 || cell.global_batch <= 0) return std::nullopt;
  return 1000 * static_cast<double>(cell.global_batch) / samples_per_s;
}

const ConfidenceInterval* IntervalOf(const StudyCell& cell, const std::string& number) {
  const auto found = cell.intervals.find(number);
  return found == cell.intervals.end() ? nullptr : &found->second;
}

/// Why the machine, and not the network, made the cell's numbers; empty if it did not.
std::string MachineText(const StudyCell& cell) {
  if (!IsAllLimited(cell)) return "";
  const std::string limits = LimitsText(CountedRuns(cell));
  return limits.empty() ? "limited by the machine" : "limited by the machine: " + limits;
}

std::string MsText(double ms) {
  return ms < 100 ? fmt::format("{:.3g} ms", ms) : fmt::format("{:.0f} ms", ms);
}

/// Collects the causes of the time above a bound.
class Above {
 public:
  Above(const StudyCell& cell, double bound_ms, double ratio)
      : cell_(cell),
        bound_ms_(bound_ms),
        step_ms_(ratio * bound_ms),
        left_ms_(step_ms_ - bound_ms),
        allowed_ms_((kAboveBound - 1) * bound_ms) {
    if (!cell.achievable_ms) return;
    allowed_ms_ = std::min(allowed_ms_, (kAboveAchievable - 1) * *cell.achievable_ms);
  }

  BoundExplanation Explain() {
    if (std::string text = MachineText(cell_); !text.empty()) AddWhole(std::move(text));
    AddInterval();
    AddAchievable();
    AddLinks();
    AddStragglers();
    AddParts();
    AddCores();
    if (!Enough()) AddCongestion();
    if (!Enough()) AddMessages();
    if (texts_.empty()) return {kUnexplained, false};
    std::string text = fmt::format("{}", fmt::join(texts_, "; "));
    if (Enough()) return {std::move(text), true};
    return {fmt::format("{}; the rest, {}, is {}", text, MsText(left_ms_), kUnexplained), false};
  }

 private:
  bool Enough() const { return whole_ || left_ms_ <= allowed_ms_; }

  void AddWhole(std::string text) {
    whole_ = true;
    texts_.push_back(std::move(text));
  }

  /// Adds `what`, followed by the milliseconds that it explains: at most those that are left.
  void AddMs(const std::string& what, double ms) {
    const double explained_ms = std::min(ms, left_ms_);
    if (explained_ms < kWorthSaying * bound_ms_) return;
    left_ms_ -= explained_ms;
    texts_.push_back(fmt::format("{}: {}", what, MsText(explained_ms)));
  }

  /// Where there is an achievable step, the ratio to it is what noise must explain.
  void AddInterval() {
    const bool achievable = cell_.achievable_ratio.has_value();
    if (achievable && *cell_.achievable_ratio <= kAboveAchievable) return;
    const double limit = achievable ? kAboveAchievable : kAboveBound;
    const ConfidenceInterval* interval =
        IntervalOf(cell_, achievable ? "achievable_ratio" : "bound_ratio");
    if (interval == nullptr || interval->low > limit || interval->high < limit) return;
    AddWhole(fmt::format(
        "noise: the 95 % interval of the ratio{}, {:.2f} to {:.2f}, contains {:.2f}",
        achievable ? " to the achievable step" : "", interval->low, interval->high, limit));
  }

  /// The median over the runs that have an achievable step; 0 when there is none.
  template <typename Value>
  double MedianOfAchievable(Value value) const {
    std::vector<double> values;
    for (const StudyRun* run : CountedRuns(cell_)) {
      if (run->achievable && run->bound_ms) values.push_back(value(*run));
    }
    return Median(std::move(values)).value_or(0);
  }

  void AddAchievable() {
    const double over_ms = MedianOfAchievable(
        [](const StudyRun& run) { return run.achievable->step_ms - *run.bound_ms; });
    std::vector<std::string> parts;
    for (const AchievablePart& part : kAchievableParts) {
      const double ms =
          MedianOfAchievable([&](const StudyRun& run) { return (*run.achievable).*part.value; });
      if (ms >= kPartWorthSaying * bound_ms_) {
        parts.push_back(fmt::format("{} {}", part.what, MsText(ms)));
      }
    }
    std::string what = "the achievable step is longer than the bound";
    if (!parts.empty()) what += fmt::format(" ({})", fmt::join(parts, ", "));
    const double shorter_ms = over_ms - left_ms_;
    const double left_ms = left_ms_ - std::min(over_ms, left_ms_);
    AddMs(what, over_ms);
    left_ms_ = left_ms;  // also where it was not worth saying
    if (shorter_ms < kWorthSaying * bound_ms_) return;
    texts_.push_back(
        fmt::format("the step is {} shorter than the achievable one", MsText(shorter_ms)));
  }

  const StudyRun* AnyCounted() const {
    const std::vector<const StudyRun*> runs = CountedRuns(cell_);
    return runs.empty() ? nullptr : runs.front();
  }

  void AddLinks() {
    const LinkShares shares = SharesOf(cell_);
    if (!shares.slowest || *shares.slowest >= kLinkSlow || !cell_.bound_comm_ms) return;
    AddMs(fmt::format(
              "the slowest link carried {:.1f} % of the requested rate{}", *shares.slowest * 100,
              shares.runs_not_ok > 0 ? fmt::format(" (not as requested in {} of {} runs)",
                                                   shares.runs_not_ok, CountedRuns(cell_).size())
                                     : ""),
          *cell_.bound_comm_ms * (1 / *shares.slowest - 1));
  }

  void AddStragglers() {
    // A step is latest when all of its wait is one worker's.
    const double injected = cell_.straggler_ms.value_or(0) * cell_.workers;
    AddMs("workers slowed on purpose", injected);
    const std::optional<double> mean = StepMsByThroughput(cell_);
    if (!mean || injected > 0) return;
    AddMs("a step counts with its slowest worker, which is not always the same; over the mean",
          step_ms_ - *mean);
  }

  void AddParts() {
    const CriticalPath path = cell_.critical_path.value_or(CriticalPath());
    const double straggler_ms = cell_.straggler_ms.value_or(0);
    if (straggler_ms == 0) {
      AddMs("waiting for the last worker", path.straggler_wait_ms.value_or(0));
    }
    AddMs("waiting in a server's queue", path.server_queue_ms.value_or(0));
    AddMs("encoding and decoding", path.codec_ms.value_or(0));
    AddMs("waiting for data", path.data_ms.value_or(0));
    const double compute_ms = cell_.compute_ms.value_or(0) - straggler_ms;
    const double comm_ms = cell_.bound_comm_ms.value_or(bound_ms_);
    const double longer_ms = comm_ms < bound_ms_ ? compute_ms - bound_ms_ : 0;
    AddMs("compute took longer than the bound assumes", longer_ms);
  }

  void AddCores() {
    const double busy = cell_.cores_busy.value_or(0);
    if (busy < kCoresBusy) return;
    const StudyRun* run = AnyCounted();
    const bool done = run != nullptr;
    AddWhole(fmt::format(
        "the machine's {}cores were {:.0f} % busy{}: the processor limits the emulation",
        done && run->cores ? fmt::format("{} ", *run->cores) : "", busy * 100,
        done ? OwnShare(*run) : ""));
  }

  /// The part of the run itself. Other programs and the kernel's network code also keep cores busy.
  std::string OwnShare(const StudyRun& run) const {
    const double core_seconds = run.cores.value_or(0) * run.wall_seconds.value_or(0);
    if (core_seconds <= 0 || !run.cpu_seconds_workers) return "";
    const int processes = cell_.workers + (cell_.colocated ? 0 : cell_.servers);
    const double own = *run.cpu_seconds_workers + run.cpu_seconds_servers.value_or(0);
    return fmt::format(" (the run's own {} {} took {:.0f} % of their time)", processes,
                       processes == 1 ? "process" : "processes", own / core_seconds * 100);
  }

  /// A cause without a time: nothing tells how long connections waited, and for how long they sent
  /// more slowly.
  void AddCongestion() {
    std::vector<double> shares;
    for (const StudyRun* run : CountedRuns(cell_)) {
      const RunFidelity fidelity = run->fidelity.value_or(RunFidelity());
      const bool full = fidelity.dropped_packets.value_or(0) > 0;
      shares.push_back(full ? fidelity.retransmitted_share.value_or(0) : 0);
    }
    const double share = Median(std::move(shares)).value_or(0);
    if (share < kCongested) return;
    texts_.push_back(fmt::format(
        "congestion: queues of links were full, and {:.2g} % of the segments were sent again; how "
        "long that took is not known",
        share * 100));
  }

  /// A cause without a time: nobody measured what a message costs.
  void AddMessages() {
    const bool servers = cell_.servers > 0;
    const double messages = cell_.buckets.value_or(0) * (servers ? 2.0 : 2.0 * (cell_.workers - 1));
    if (messages <= 0 || left_ms_ / messages > kMessageMs) return;
    texts_.push_back(
        fmt::format("the start-up of messages, which the bound leaves out, would have to take "
                    "{:.2g} ms for each of {:.0f} a step",
                    left_ms_ / messages, messages));
  }

  const StudyCell& cell_;
  const double bound_ms_;
  const double step_ms_;
  double left_ms_;      // above the bound, not yet explained
  double allowed_ms_;   // may be left without an explanation
  bool whole_ = false;  // one cause explains all of it
  std::vector<std::string> texts_;
};

BoundExplanation ExplainBelow(const StudyCell& cell, double bound_ms, double ratio) {
  std::vector<std::string> texts;
  if (const ConfidenceInterval* interval = IntervalOf(cell, "bound_ratio");
      interval && interval->high >= 1) {
    texts.push_back(
        fmt::format("noise: the 95 % interval of the ratio, {:.2f} to {:.2f}, contains 1",
                    interval->low, interval->high));
  }
  if (ratio >= kTimer) texts.emplace_back("less than 1 %, the precision of timers and shaping");
  if (const LinkShares links = SharesOf(cell); ratio * links.fastest >= 1) {
    texts.push_back(
        fmt::format("links carried up to {:.1f} % of what the bound assumes", links.fastest * 100));
  }
  const std::optional<double> mean = StepMsByThroughput(cell);
  if (mean && *mean >= bound_ms) {
    texts.push_back(
        fmt::format("the median step is a short one: by samples and time the mean is "
                    "{:.2f} of the bound",
                    *mean / bound_ms));
  }
  const bool explained = !texts.empty();
  if (!explained) texts.emplace_back(kUnexplained);
  // A slow machine does not make a step faster than its bound, but its figures are not to be
  // trusted.
  if (std::string text = MachineText(cell); !text.empty()) texts.insert(texts.begin(), text);
  return {fmt::format("{}", fmt::join(texts, "; ")), explained};
}

}  // namespace

BoundExplanation ExplainBound(const StudyCell& cell) {
  const double bound_ms = cell.bound_ms.value_or(0);
  if (!cell.bound_ratio || bound_ms <= 0) {
    if (cell.bound_missing.empty()) return {};
    return {"no bound: " + cell.bound_missing, true};
  }
  const double ratio = *cell.bound_ratio;
  if (ratio < kBelowBound) return ExplainBelow(cell, bound_ms, ratio);
  const bool above_achievable = cell.achievable_ratio.value_or(1) > kAboveAchievable;
  if (ratio > kAboveBound || above_achievable) return Above(cell, bound_ms, ratio).Explain();
  return {};
}

}  // namespace ringside

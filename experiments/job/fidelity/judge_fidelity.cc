#include "ringside/experiments/job/fidelity/judge_fidelity.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "ringside/experiments/statistics/quantile.h"

namespace ringside {
namespace {

using Clock = TimeWindow::Clock;
using Windows = std::vector<TimeWindow>;

// A rest of this length is an error of rounding.
constexpr double kRestSeconds = 1e-3;

Clock::duration Duration(double seconds) {
  return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

/// The part of the joined windows from `begin` to `end`.
Windows Part(const Windows& windows, Clock::duration begin, Clock::duration end) {
  Windows part;
  Clock::duration before{};
  for (const TimeWindow& window : windows) {
    const Clock::duration length = window.end - window.begin;
    const Clock::time_point from = window.begin + std::max(begin - before, Clock::duration{});
    const Clock::time_point to = window.begin + std::min(end - before, length);
    if (from < to) part.push_back({from, to});
    before += length;
  }
  return part;
}

std::vector<Windows> CutIntoSeconds(const Windows& windows, double total_s) {
  const Clock::duration total = Duration(total_s);
  const Clock::duration second = std::chrono::seconds(1);
  if (total <= second) return {windows};
  std::vector<Windows> seconds;
  Clock::duration at{};
  for (; at + second <= total; at += second) seconds.push_back(Part(windows, at, at + second));
  if (total - at > Duration(kRestSeconds)) {
    seconds.push_back(Part(windows, total - second, total));
  }
  return seconds;
}

/// Ticks, of which a look at the processor may have seen a part.
struct TickShare {
  double idle = 0;
  double all = 0;
};

/// Reads a record by time.
class Seen {
 public:
  explicit Seen(const ProcessorRecord& record) : slots_(record.slots) {}

  bool Covers(const Windows& windows) const {
    return !slots_.empty() && slots_.front().ticks_at <= windows.front().begin &&
           windows.back().end <= slots_.back().ticks_at;
  }

  TickShare TicksIn(const Windows& windows) const {
    TickShare sum;
    for (const TimeWindow& window : windows) {
      const TickShare begin = TicksAt(window.begin);
      const TickShare end = TicksAt(window.end);
      sum.idle += end.idle - begin.idle;
      sum.all += end.all - begin.all;
    }
    return sum;
  }

  /// How late the probes were that were due in the windows, in milliseconds.
  std::vector<double> LateIn(const Windows& windows) const {
    std::vector<double> late;
    for (const TimeWindow& window : windows) {
      const Clock::time_point first = window.begin - kProbesPerSlot * kProbePeriod;
      auto slot = std::ranges::lower_bound(slots_, first, {}, &ProcessorSlot::due);
      for (; slot != slots_.end() && slot->due < window.end; ++slot) {
        for (int i = 0; i < slot->probes; ++i) {
          const Clock::time_point due = slot->due + i * kProbePeriod;
          if (due < window.begin || due >= window.end) continue;
          late.push_back(slot->late_ms.at(static_cast<std::size_t>(i)));
        }
      }
    }
    return late;
  }

 private:
  /// The ticks since the first look. The time must be covered.
  TickShare TicksAt(Clock::time_point time) const {
    const auto next = std::ranges::lower_bound(slots_, time, {}, &ProcessorSlot::ticks_at);
    const TickShare after = Since(*next);
    if (next == slots_.begin()) return after;
    const ProcessorSlot& last = *std::prev(next);
    const TickShare before = Since(last);
    const double share = std::chrono::duration<double>(time - last.ticks_at) /
                         std::chrono::duration<double>(next->ticks_at - last.ticks_at);
    return {before.idle + share * (after.idle - before.idle),
            before.all + share * (after.all - before.all)};
  }

  TickShare Since(const ProcessorSlot& slot) const {
    const ProcessorTicks& first = slots_.front().ticks;
    // The kernel may take back a little of the time that waited for a disk.
    return {static_cast<double>(slot.ticks.idle) - static_cast<double>(first.idle),
            static_cast<double>(slot.ticks.all) - static_cast<double>(first.all)};
  }

  const std::deque<ProcessorSlot>& slots_;
};

/// Makes one verdict.
class Judge {
 public:
  Judge(const FidelityInput& input, const FidelityLimits& limits)
      : input_(input), limits_(limits), seen_(input.processor) {}

  Fidelity Make() {
    TakeCounters();
    for (const TimeWindow& window : input_.windows) verdict_.judged_seconds += window.seconds();
    if (!LongEnough()) return verdict_;
    JudgeCounters();
    if (!input_.processor.error.empty()) NotJudged("the processor: " + input_.processor.error);
    if (seen_.Covers(input_.windows)) {
      seconds_ = CutIntoSeconds(input_.windows, verdict_.judged_seconds);
      JudgeIdleTime();
      JudgeWakeUps();
      NotePauses();
    } else if (input_.processor.error.empty()) {
      NotJudged("the processor: it was not watched during all counted steps");
    }
    return verdict_;
  }

 private:
  void NotJudged(const std::string& reason) { verdict_.not_judged.push_back(reason); }

  void TakeCounters() {
    verdict_.counters = input_.counters;
    verdict_.segments_of_a_packet = input_.segments_of_a_packet;
    if (!input_.counters || input_.counters->sent_segments == 0) return;
    verdict_.retransmitted_share = static_cast<double>(input_.counters->retransmitted_segments) /
                                   static_cast<double>(input_.counters->sent_segments);
  }

  bool LongEnough() {
    if (input_.windows.empty()) {
      NotJudged("the run ended before the end of a counted step");
      return false;
    }
    if (verdict_.judged_seconds >= limits_.least_seconds) return true;
    NotJudged(fmt::format("the counted steps took {:.3g} s, at least {:.3g} s are needed",
                          verdict_.judged_seconds, limits_.least_seconds));
    return false;
  }

  void JudgeCounters() {
    if (!input_.counters) {
      NotJudged("lost packets: " + input_.counters_error);
      return;
    }
    const double share = UnexplainedShare(*input_.counters);
    if (input_.counters->sent_segments > 0) verdict_.unexplained_share = share;
    if (input_.loses_on_purpose || share <= limits_.retransmitted_share) return;
    verdict_.limited_by.push_back(
        fmt::format("lost packets: {:.3g} % of the segments were sent again though no link's queue "
                    "dropped them, at most {:.3g} % are allowed",
                    share * 100, limits_.retransmitted_share * 100));
  }

  /// What a full queue dropped belongs to the emulated network. Something else made TCP send the
  /// rest again: the machine lost it, or was so late that TCP gave it up.
  double UnexplainedShare(const LinkCounters& seen) const {
    if (seen.sent_segments == 0) return 0;
    const auto again = static_cast<double>(seen.retransmitted_segments);
    const double dropped = static_cast<double>(seen.dropped_packets) *
                           static_cast<double>(input_.segments_of_a_packet);
    return std::max(again - dropped, 0.0) / static_cast<double>(seen.sent_segments);
  }

  void JudgeIdleTime() {
    std::vector<double> shares;
    for (const Windows& second : seconds_) {
      const TickShare ticks = seen_.TicksIn(second);
      if (ticks.all <= 0) {
        NotJudged(fmt::format("the processor: /proc/stat counted nothing in second {}",
                              shares.size() + 1));
        return;
      }
      shares.push_back(std::clamp(ticks.idle / ticks.all, 0.0, 1.0));
    }
    const auto least = std::ranges::min_element(shares);
    verdict_.least_idle_share = *least;
    verdict_.median_idle_share = Median(shares);
    if (*least >= limits_.least_idle_share) return;
    const auto low = std::ranges::count_if(
        shares, [&](double share) { return share < limits_.least_idle_share; });
    verdict_.limited_by.push_back(fmt::format(
        "the processor: {:.0f} % idle in second {}, at least {:.0f} % needed{}", *least * 100,
        least - shares.begin() + 1, limits_.least_idle_share * 100, Others(low)));
  }

  void JudgeWakeUps() {
    std::vector<double> all = seen_.LateIn(input_.windows);
    if (all.empty()) {
      NotJudged("late wake-ups: no probe ran in the counted steps");
      return;
    }
    LateWakeUps late;
    late.allowed =
        std::max(limits_.late_floor_ms, limits_.late_share_of_step * input_.step_ms.value_or(0));
    std::size_t worst = 0;
    std::ptrdiff_t over = 0;
    for (std::size_t i = 0; i < seconds_.size(); ++i) {
      const double p99 = Quantile(seen_.LateIn(seconds_[i]), 0.99).value_or(0);
      if (p99 > late.worst_second_p99) worst = i;
      late.worst_second_p99 = std::max(late.worst_second_p99, p99);
      over += p99 > late.allowed ? 1 : 0;
    }
    late.max = *std::ranges::max_element(all);
    late.p99 = Quantile(std::move(all), 0.99).value_or(0);
    verdict_.late = late;
    if (over == 0) return;
    verdict_.limited_by.push_back(fmt::format(
        "late wake-ups: {:.3g} ms at the 99th percentile in second {}, at most {:.3g} ms "
        "allowed{}",
        late.worst_second_p99, worst + 1, late.allowed, Others(over)));
  }

  /// How many seconds were bad, if there were others than the one that is named.
  std::string Others(std::ptrdiff_t bad) const {
    return bad > 1 ? fmt::format(" (bad in {} of {} seconds)", bad, seconds_.size()) : "";
  }

  void NotePauses() {
    double paused_s = 0;
    for (const TimeWindow& pause : input_.processor.pauses) {
      for (const TimeWindow& window : input_.windows) {
        const TimeWindow both{std::max(pause.begin, window.begin), std::min(pause.end, window.end)};
        if (both.begin < both.end) paused_s += both.seconds();
      }
    }
    if (paused_s == 0) return;
    NotJudged(fmt::format("late wake-ups: ringside itself did not run for {:.1f} s", paused_s));
  }

  const FidelityInput& input_;
  const FidelityLimits& limits_;
  const Seen seen_;
  std::vector<Windows> seconds_;
  Fidelity verdict_;
};

}  // namespace

Fidelity JudgeFidelity(const FidelityInput& input, const FidelityLimits& limits) {
  return Judge(input, limits).Make();
}

}  // namespace ringside

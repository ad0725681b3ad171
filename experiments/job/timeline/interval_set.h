#ifndef RINGSIDE_EXPERIMENTS_JOB_TIMELINE_INTERVAL_SET_H_
#define RINGSIDE_EXPERIMENTS_JOB_TIMELINE_INTERVAL_SET_H_

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ringside {

struct Interval {
  std::int64_t begin = 0;
  std::int64_t end = 0;  ///< Exclusive.
};

/// A set of times, stored as sorted, disjoint intervals. Intervals may be added in any order;
/// overlaps count once.
class IntervalSet {
 public:
  void Add(const Interval& interval) {
    if (interval.begin >= interval.end) return;
    intervals_.push_back(interval);
    tidy_ = false;
  }

  void AddAll(const IntervalSet& other) {
    for (const Interval& interval : other.intervals_) Add(interval);
  }

  std::int64_t length() {
    Tidy();
    std::int64_t sum = 0;
    for (const Interval& interval : intervals_) sum += interval.end - interval.begin;
    return sum;
  }

  /// Removes the times of `cover` from this set and returns their total length.
  std::int64_t Remove(IntervalSet& cover) {
    Tidy();
    cover.Tidy();
    std::vector<Interval> rest;
    std::int64_t removed = 0;
    for (Interval mine : intervals_) {
      auto other = std::ranges::upper_bound(cover.intervals_, mine.begin, {}, &Interval::end);
      for (; other != cover.intervals_.end() && other->begin < mine.end; ++other) {
        if (other->begin > mine.begin) rest.push_back({mine.begin, other->begin});
        const std::int64_t end = std::min(mine.end, other->end);
        removed += end - std::max(mine.begin, other->begin);
        mine.begin = end;
      }
      if (mine.begin < mine.end) rest.push_back(mine);
    }
    intervals_ = std::move(rest);
    return removed;
  }

 private:
  void Tidy() {
    if (tidy_) return;
    tidy_ = true;
    std::ranges::sort(intervals_, {}, &Interval::begin);
    std::vector<Interval> joined;
    for (const Interval& next : intervals_) {
      if (!joined.empty() && next.begin <= joined.back().end) {
        joined.back().end = std::max(joined.back().end, next.end);
      } else {
        joined.push_back(next);
      }
    }
    intervals_ = std::move(joined);
  }

  std::vector<Interval> intervals_;
  bool tidy_ = true;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_TIMELINE_INTERVAL_SET_H_

#ifndef RINGSIDE_EXPERIMENTS_REPORT_RUNS_WHOLE_NUMBER_H_
#define RINGSIDE_EXPERIMENTS_REPORT_RUNS_WHOLE_NUMBER_H_

#include <limits>

namespace ringside {

/// A number of a file as a whole number, without its fraction. A number that `Whole` cannot hold
/// becomes the nearest that it can; a cast would be undefined. A file of JSON has no NaN.
template <typename Whole>
Whole WholeNumber(double number) {
  using Limits = std::numeric_limits<Whole>;
  if (!(number > static_cast<double>(Limits::min()))) return Limits::min();
  if (number >= static_cast<double>(Limits::max())) return Limits::max();
  return static_cast<Whole>(number);
}

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_RUNS_WHOLE_NUMBER_H_

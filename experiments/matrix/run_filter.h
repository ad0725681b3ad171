#ifndef RINGSIDE_EXPERIMENTS_MATRIX_RUN_FILTER_H_
#define RINGSIDE_EXPERIMENTS_MATRIX_RUN_FILTER_H_

#include <string>
#include <utility>
#include <vector>

#include "experiments/run_spec.h"

namespace ringside {

/// Which runs of a matrix are meant: "strategy=ring,workers=4" are those that have both values,
/// several such expressions those that fit any. No expression fits everything. A value.
class RunFilter {
 public:
  /// Keys and values are those of spec files and flags. A comma that no `KEY=` follows belongs to
  /// the value ("hidden=128,64"). Throws `UsageError`.
  explicit RunFilter(const std::vector<std::string>& expressions);

  /// `run` is resolved. A value fits as well when it resolves to that of the run
  /// ("servers=workers").
  bool Fits(const RunSpec& run) const;

 private:
  using Term = std::pair<std::string, std::string>;  // key, text
  std::vector<std::vector<Term>> expressions_;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_MATRIX_RUN_FILTER_H_

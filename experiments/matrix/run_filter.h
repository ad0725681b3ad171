#ifndef RINGSIDE_EXPERIMENTS_MATRIX_RUN_FILTER_H_
#define RINGSIDE_EXPERIMENTS_MATRIX_RUN_FILTER_H_

#include <string>
#include <utility>
#include <vector>

#include "ringside/experiments/spec/run_spec.h"

namespace ringside {

/// Selects runs of a matrix. "strategy=ring,workers=4" fits runs with both values. With several
/// expressions a run must fit one of them; with none every run fits. A value.
class RunFilter {
 public:
  /// Keys and values are those of spec files and flags. A comma without a `KEY=` after it belongs
  /// to the value ("hidden=128,64"). Throws `UsageError`.
  RunFilter(const std::vector<std::string>& expressions, const Catalog& catalog);

  /// Whether a resolved run fits. A value also fits when it resolves to the value of the run
  /// ("servers=workers").
  bool Fits(const RunSpec& run) const;

 private:
  using Term = std::pair<std::string, std::string>;  // key, text
  std::vector<std::vector<Term>> expressions_;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_MATRIX_RUN_FILTER_H_

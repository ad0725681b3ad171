#ifndef RINGSIDE_EXPERIMENTS_MATRIX_MATRIX_SPEC_H_
#define RINGSIDE_EXPERIMENTS_MATRIX_MATRIX_SPEC_H_

#include <cstdint>
#include <string>
#include <vector>

#include "ringside/experiments/matrix/setting.h"
#include "ringside/experiments/spec/catalog.h"

namespace ringside {

/// One key that a matrix varies.
struct Axis {
  const SpecKey* key = nullptr;
  std::vector<Setting> values;
};

/// The most retries of one run, and the default: a run that fails three times has a real fault.
inline constexpr int kMaxRetries = 2;

/// The contents of a matrix file (docs/matrix-spec.md). A value.
struct MatrixSpec {
  const Catalog* catalog = nullptr;  ///< Not owned. Defines the keys.
  std::string path;                  ///< The file's path, for messages.
  std::string text;                  ///< The file's text, kept with the results.
  std::string name;
  std::vector<Setting> defaults;
  std::vector<Axis> axes;                     ///< All combinations of their values are runs.
  std::vector<std::vector<Setting>> include;  ///< Further single runs, on top of the defaults.
  std::vector<std::vector<Setting>> exclude;  ///< Drops every run that has all of these values.
  int repetitions = 1;
  std::uint64_t order_seed = 1;
  /// Further attempts at a run that failed because a process was killed or a connection was lost.
  int retries = kMaxRetries;
  double time_limit_s = 0;  ///< Limit for one run; 0: no limit.
};

/// Reads a matrix. Throws `ConfigError` with `file:line:column` on an unknown, missing or repeated
/// key, a value of the wrong type, or an empty axis.
MatrixSpec ReadMatrixSpec(const std::string& path, const Catalog& catalog);
MatrixSpec ParseMatrixSpec(const std::string& text, const std::string& path,
                           const Catalog& catalog);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_MATRIX_MATRIX_SPEC_H_

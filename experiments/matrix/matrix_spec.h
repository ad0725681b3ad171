#ifndef RINGSIDE_EXPERIMENTS_MATRIX_MATRIX_SPEC_H_
#define RINGSIDE_EXPERIMENTS_MATRIX_MATRIX_SPEC_H_

#include <cstdint>
#include <string>
#include <vector>

#include "experiments/matrix/yaml_positions.h"

namespace ringside {

/// One key that a matrix varies.
struct Axis {
  const SpecKey* key = nullptr;
  std::vector<Setting> values;
};

/// As many as a run gets unless its matrix grants fewer: what fails three times fails for a reason.
inline constexpr int kMaxRetries = 2;

/// A matrix as its file says it (docs/matrix-spec.md). A value.
struct MatrixSpec {
  std::string path;  ///< Of the file, for messages.
  std::string text;  ///< The file itself, kept with the results.
  std::string name;
  std::vector<Setting> defaults;
  std::vector<Axis> axes;                     ///< Multiplied out.
  std::vector<std::vector<Setting>> include;  ///< Single runs besides, on top of the defaults.
  std::vector<std::vector<Setting>> exclude;  ///< Drops every run that has all of these values.
  int repetitions = 1;
  std::uint64_t order_seed = 1;
  /// Further attempts at a run that failed because somebody was killed or a connection was lost.
  int retries = kMaxRetries;
  double time_limit_s = 0;  ///< Of one run; 0: none.
};

/// Throws `ConfigError` `file:line:column: ...` on an unknown, missing or repeated key, a value of
/// the wrong type, an empty axis.
MatrixSpec ReadMatrixSpec(const std::string& path);
MatrixSpec ParseMatrixSpec(const std::string& text, const std::string& path);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_MATRIX_MATRIX_SPEC_H_

#ifndef RINGSIDE_EXPERIMENTS_MATRIX_SETTING_H_
#define RINGSIDE_EXPERIMENTS_MATRIX_SETTING_H_

#include <nlohmann/json.hpp>
#include <vector>

#include "ringside/experiments/spec/spec_keys.h"

namespace ringside {

/// A position in a spec file. Lines and columns start at 1.
struct Position {
  int line = 1;
  int column = 1;
};

/// One key of a run spec with a value, and its position in the file.
struct Setting {
  const SpecKey* key = nullptr;
  nlohmann::json value;  ///< Typed, in base units.
  Position position;     ///< Position of the value.
};

/// Applies settings of one group. A batch of one kind unsets the other kind, unless the group sets
/// both.
void Apply(RunSpec& spec, const std::vector<Setting>& settings);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_MATRIX_SETTING_H_

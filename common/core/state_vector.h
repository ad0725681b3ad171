#ifndef RINGSIDE_COMMON_CORE_STATE_VECTOR_H_
#define RINGSIDE_COMMON_CORE_STATE_VECTOR_H_

#include <map>
#include <span>
#include <string>
#include <vector>

namespace ringside {

/// A vector that a strategy remembers from step to step, beside the parameters and the optimizer's
/// state: residuals of error feedback, outer momentum. A checkpoint keeps it.
struct StateVector {
  /// Lower-case letters, digits and '-'. Unique within a strategy.
  std::string name;
  std::span<float> values;  ///< Borrowed.
  /// Equal on all workers, so one copy is enough, whatever the number of workers. False: every
  /// worker has its own.
  bool shared = false;
};

/// State vectors as a checkpoint keeps them, by name.
using SavedState = std::map<std::string, std::vector<float>>;

/// Copies saved values into the vectors of the same name and length. Returns what could not be
/// copied, one text for each vector, for the notes of a run. Such a vector of `state` is unchanged.
std::vector<std::string> RestoreState(std::span<const StateVector> state, const SavedState& saved);

/// Appends `more` to `state`.
void Append(std::vector<StateVector>& state, std::vector<StateVector> more);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_CORE_STATE_VECTOR_H_

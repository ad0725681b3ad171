#include "ringside/common/core/state_vector.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace ringside {

std::vector<std::string> RestoreState(std::span<const StateVector> state, const SavedState& saved) {
  std::vector<std::string> notes;
  for (const StateVector& vector : state) {
    const auto found = saved.find(vector.name);
    if (found == saved.end()) {
      notes.push_back("resumed without " + vector.name + ": the checkpoint does not have it");
    } else if (found->second.size() != vector.values.size()) {
      notes.push_back("resumed without " + vector.name + ": the checkpoint has " +
                      std::to_string(found->second.size()) + " values of it, this run " +
                      std::to_string(vector.values.size()));
    } else {
      std::ranges::copy(found->second, vector.values.begin());
    }
  }
  for (const auto& [name, values] : saved) {
    if (std::ranges::find(state, name, &StateVector::name) == state.end()) {
      notes.push_back("the checkpoint's " + name + " is not used");
    }
  }
  return notes;
}

void Append(std::vector<StateVector>& state, std::vector<StateVector> more) {
  std::ranges::move(more, std::back_inserter(state));
}

}  // namespace ringside

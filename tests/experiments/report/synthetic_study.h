#ifndef RINGSIDE_TESTS_EXPERIMENTS_REPORT_SYNTHETIC_STUDY_H_
#define RINGSIDE_TESTS_EXPERIMENTS_REPORT_SYNTHETIC_STUDY_H_

#include <string>
#include <vector>

namespace ringside {

struct SyntheticStudy {
  std::vector<double> link_bits_per_s{1e8, 3e8, 1e9, 1e10};
  std::vector<int> workers{1, 2, 4, 8};
  int repetitions = 6;
  /// Strategies that are no strategies, with a run of each that failed with its name as the error.
  std::vector<std::string> hostile_names = {};
};

/// What a name in a study can hold. None may ever run, end an element or count as a formula.
std::vector<std::string> HostileNames();

/// Writes bundles as runs leave them, with figures that are made up (step times near the bound,
/// from a fixed seed): five strategies x workers x links x repetitions, and what is hostile. One
/// link of one run, of a ring of 8 workers at 1 Gbit/s, is not as asked.
void WriteSyntheticStudy(const SyntheticStudy& study, const std::string& directory);

}  // namespace ringside

#endif  // RINGSIDE_TESTS_EXPERIMENTS_REPORT_SYNTHETIC_STUDY_H_

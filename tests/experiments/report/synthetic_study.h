#ifndef RINGSIDE_TESTS_EXPERIMENTS_REPORT_SYNTHETIC_STUDY_H_
#define RINGSIDE_TESTS_EXPERIMENTS_REPORT_SYNTHETIC_STUDY_H_

#include <string>
#include <vector>

namespace ringside {

struct SyntheticStudy {
  std::vector<double> link_bits_per_s{1e8, 3e8, 1e9, 1e10};
  std::vector<int> workers{1, 2, 4, 8};
  int repetitions = 6;
  /// Names used as strategies. Each has a failed run whose error is the name.
  std::vector<std::string> hostile_names = {};
};

/// Hostile names. No report may run one, let it end an element, or treat it as a formula.
std::vector<std::string> HostileNames();

/// Writes bundles like those of real runs with made-up figures (step times near the bound, from a
/// fixed seed): five strategies x workers x links x repetitions, and the hostile names. One link of
/// one run, of a ring of 8 workers at 1 Gbit/s, is not as asked. The clocks of all runs of 1 Gbit/s
/// have the dilation factor 10, those of the others 1. The machine limited the second run of the
/// ring of 4 workers at 1 Gbit/s and all runs of ps-sync on 8 workers at 300 Mbit/s.
void WriteSyntheticStudy(const SyntheticStudy& study, const std::string& directory);

}  // namespace ringside

#endif  // RINGSIDE_TESTS_EXPERIMENTS_REPORT_SYNTHETIC_STUDY_H_

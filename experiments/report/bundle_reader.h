#ifndef RINGSIDE_EXPERIMENTS_REPORT_BUNDLE_READER_H_
#define RINGSIDE_EXPERIMENTS_REPORT_BUNDLE_READER_H_

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiments/report/run_metrics.h"
#include "experiments/run_spec.h"

namespace ringside {

/// One finished run as its bundle tells it.
struct RunResult {
  std::string directory;
  RunSpec spec;
  nlohmann::json summary;
  nlohmann::json environment = {};  ///< Null where the bundle has none, or a damaged one.
  nlohmann::json network = {};      ///< Of links that were calibrated; null without.
  RunMetrics metrics = {};
};

/// A bundle that could not be read, or that no run has finished, and why.
struct BundleProblem {
  std::string directory;
  std::string cause;
  bool damaged = true;  ///< False: merely unfinished.
};

struct StudyInput {
  std::string name;  ///< Of the directory.
  std::vector<RunResult> runs;
  std::vector<BundleProblem> problems;
};

/// Reads every bundle in `directory`, or the one that it is, in order of the names. A damaged
/// bundle or one of a newer schema becomes a problem and the others are read all the same. What a
/// bundle may lack (environment, network, metrics) is simply absent. Throws `Error` when there is
/// no such directory or it holds no bundle at all.
StudyInput ReadStudy(const std::filesystem::path& directory);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_BUNDLE_READER_H_

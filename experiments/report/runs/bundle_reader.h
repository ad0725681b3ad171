#ifndef RINGSIDE_EXPERIMENTS_REPORT_RUNS_BUNDLE_READER_H_
#define RINGSIDE_EXPERIMENTS_REPORT_RUNS_BUNDLE_READER_H_

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ringside/experiments/report/runs/run_metrics.h"
#include "ringside/experiments/spec/run_spec.h"

namespace ringside {

/// One finished run, as read from its bundle.
struct RunResult {
  std::string directory;
  RunSpec spec;
  nlohmann::json summary;
  nlohmann::json environment = {};  ///< Null where the bundle has none, or a damaged one.
  nlohmann::json network = {};      ///< The calibrated links; null without any.
  RunMetrics metrics = {};
};

/// A bundle that could not be read or whose run is unfinished, and why.
struct BundleProblem {
  std::string directory;
  std::string cause;
  bool damaged = true;  ///< False: only unfinished.
};

struct StudyInput {
  std::string name;  ///< The directory's name.
  std::vector<RunResult> runs;
  std::vector<BundleProblem> problems;
};

/// Reads every bundle in `directory`, in order of their names, or the one bundle that `directory`
/// is. A damaged bundle or one of a newer schema becomes a problem; the others are still read.
/// Optional parts (environment, network, metrics) may be absent. Throws `Error` when there is no
/// such directory or it holds no bundle.
StudyInput ReadStudy(const std::filesystem::path& directory, const Catalog& catalog);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_RUNS_BUNDLE_READER_H_

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/cli/commands.h"
#include "ringside/experiments/cli/exit_codes.h"
#include "ringside/experiments/cli/options/option_set.h"
#include "ringside/experiments/report/render/study_compare.h"
#include "ringside/experiments/text/did_you_mean.h"
#include "ringside/experiments/text/printable.h"
#include "ringside/experiments/text/units.h"

namespace ringside {
namespace {

OptionSet CompareOptions() {
  OptionSet options("compare", "whether two directories of results differ",
                    {{"ringside compare results/before results/after",
                      "every configuration that both have, by its step time; exit 5 where one "
                      "differs by more than 5 %"},
                     {"ringside compare A B --metric samples_per_s --threshold 2% --json",
                      "by throughput, more strictly, for programs"}});
  options.TakePositional({"A", "what a matrix wrote, or the bundle of one run"});
  options.TakePositional({"B", "another: its numbers are divided by A's"});
  options.AddGroup("Comparison");
  options.Add({"metric", "NAME",
               fmt::format("what is compared: {}", fmt::join(ComparableMetrics(), ", ")),
               "step_ms"});
  options.Add({"threshold", "X",
               "a configuration differs if its ratio is further from 1 than this (0.05 or 5%) and "
               "the interval of the ratio does not contain 1",
               "5%"});
  options.AddGroup("Output");
  options.Add({"json", "", "one JSON object on stdout instead of the table", ""});
  return options;
}

double ThresholdOf(const ParsedOptions& parsed) {
  try {
    const double threshold = ParseFraction(parsed.Get("threshold"));
    if (threshold >= 0) return threshold;
  } catch (const ConfigError& error) {
    throw UsageError(fmt::format("--threshold: {}", error.what()));
  }
  throw UsageError(fmt::format("--threshold {}: must not be negative", parsed.Get("threshold")));
}

std::string MetricOf(const ParsedOptions& parsed) {
  const std::string& metric = parsed.Get("metric");
  const std::vector<std::string_view> known = ComparableMetrics();
  if (std::ranges::find(known, metric) != known.end()) return metric;
  throw UsageError(fmt::format("--metric: there is no '{}'{}; 'ringside compare --help' lists them",
                               metric, DidYouMean(metric, known)));
}

StudyTable ReadTable(const std::string& directory, const Catalog& catalog, bool& damaged) {
  StudyTable table = MakeStudyTable(ReadStudy(directory, catalog));
  for (const BundleProblem& problem : table.problems) {
    PrintText(stderr, "ringside: left out {}: {}\n", problem.directory, problem.cause);
    damaged = damaged || problem.damaged;
  }
  return table;
}

}  // namespace

int RunCompareCommand(const Arguments& args, const Catalog& catalog) {
  const OptionSet options = CompareOptions();
  const ParsedOptions parsed = options.Parse(args);
  if (parsed.help()) {
    fmt::print("{}", options.Help(Painter::For(stdout, parsed.color())));
    return kExitDone;
  }
  const double threshold = ThresholdOf(parsed);
  const std::string metric = MetricOf(parsed);
  bool damaged = false;
  const StudyTable a = ReadTable(parsed.positionals()[0], catalog, damaged);
  const StudyTable b = ReadTable(parsed.positionals()[1], catalog, damaged);
  const StudyComparison comparison = CompareStudies(a, b, metric, threshold);
  if (parsed.IsOn("json")) {
    fmt::print("{}\n", RenderJson(comparison).dump(2));
  } else {
    PrintText(stdout, "{}", RenderText(comparison));
  }
  if (comparison.differ) return kExitComparisonFailed;
  return damaged || comparison.nothing_compared ? kExitFailed : kExitDone;
}

}  // namespace ringside

// Compares the statistics with numpy's and scipy's. The test writes samples and its own figures
// into a file, and check_scipy.py computes the figures again.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ringside/experiments/statistics/bootstrap.h"
#include "ringside/experiments/statistics/comparison.h"
#include "ringside/experiments/statistics/quantile.h"
#include "ringside/experiments/statistics/scaling.h"
#include "tests/common/shell_command.h"
#include "tests/common/temporary_directory.h"

namespace ringside {
namespace {

using nlohmann::json;
using Values = std::vector<double>;

/// A sample like the step times of runs: a peak and a tail to the right.
Values Sample(std::uint64_t seed, std::size_t size, double scale) {
  ResampleSource source(seed);
  Values values;
  for (std::size_t i = 0; i < size; ++i) {
    double sum = 0;
    for (int k = 0; k < 4; ++k) sum += static_cast<double>(source.Below(1'000'000)) / 1e6;
    values.push_back(scale * std::exp(0.2 * (sum - 2)));
  }
  return values;
}

json JsonOf(const std::optional<ConfidenceInterval>& interval) {
  return interval ? json::array({interval->low, interval->high}) : json();
}

json Described(const Values& values) {
  MedianBootstrap bootstrap;
  json quantiles = json::array();
  for (const double q : {0.0, 0.025, 0.1, 0.5, 0.9, 0.975, 1.0}) {
    quantiles.push_back({q, *Quantile(values, q)});
  }
  return {{"values", values},
          {"quantiles", quantiles},
          {"median_interval", JsonOf(bootstrap.IntervalOf(values))}};
}

json Compared(const Values& a, const Values& b, const Comparison& comparison) {
  return {{"a", a},
          {"b", b},
          {"paired", comparison.paired},
          {"ratio", *comparison.ratio},
          {"p_greater", *comparison.p_greater},
          {"interval", JsonOf(comparison.interval)}};
}

json Everything() {
  json all{{"resamples", kResamples},
           {"confidence", 0.95},
           {"samples", json::array()},
           {"comparisons", json::array()}};
  for (const std::size_t size : {5U, 6U, 9U, 10U, 24U, 51U}) {
    const Values a = Sample(size, size, 10);
    const Values b = Sample(size + 100, size, 11);
    all["samples"].push_back(Described(a));
    all["comparisons"].push_back(Compared(a, b, ComparePaired(a, b)));
    const Values fewer = Sample(size + 200, size - size / 6, 9);
    all["comparisons"].push_back(Compared(a, fewer, CompareIndependent(a, fewer)));
  }
  const Values x{1, 1, 2, 2, 4, 4, 8, 8};
  const Values y = Sample(5, x.size(), 3);
  const auto line = FitLine(x, y);
  all["line"] = {
      {"x", x}, {"y", y}, {"slope", line->slope}, {"intercept", line->intercept}, {"r2", line->r2}};
  return all;
}

TEST(Scipy, AgreesWithTheStatistics) {
  const TemporaryDirectory scratch;
  const std::string numbers = scratch.Path("numbers.json");
  std::ofstream(numbers) << Everything();
  const ShellOutcome outcome = RunShell(RINGSIDE_PYTHON " -B " RINGSIDE_CHECK_SCIPY " " + numbers);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_NE(outcome.output.find("agree"), std::string::npos) << outcome.output;
}

}  // namespace
}  // namespace ringside

#include "ringside/experiments/report/study/study_ties.h"

#include <fmt/format.h>

namespace ringside {
namespace {

constexpr double kMost = 1 + kEqualMargin;

// Without an interval, runs that disagree are the only sign of how uncertain a ratio is.
bool RunsDisagree(const Comparison& comparison) {
  const double share = comparison.p_greater.value_or(0);
  return share > 0 && share < 1;
}

}  // namespace

const char* CertaintyName(Certainty certainty) {
  switch (certainty) {
    case Certainty::kClear:
      return "clear";
    case Certainty::kEqual:
      return "equal";
    case Certainty::kUnclear:
      return "unclear";
    case Certainty::kPointEstimateOnly:
      return "points only";
  }
  return "";
}

Certainty CertaintyOf(const Comparison& comparison) {
  if (!comparison.interval) return Certainty::kPointEstimateOnly;
  if (comparison.interval->low >= 1 / kMost && comparison.interval->high <= kMost) {
    return Certainty::kEqual;
  }
  const bool holds_one = comparison.interval->low <= 1 && comparison.interval->high >= 1;
  return holds_one ? Certainty::kUnclear : Certainty::kClear;
}

Tie TieOf(const Comparison& comparison) {
  if (!comparison.ratio) return Tie::kNone;
  switch (CertaintyOf(comparison)) {
    case Certainty::kClear:
      return Tie::kNone;
    case Certainty::kEqual:
      return Tie::kSmall;
    case Certainty::kUnclear:
      return Tie::kUncertain;
    case Certainty::kPointEstimateOnly:
      break;
  }
  if (*comparison.ratio > 1 / kMost && *comparison.ratio < kMost) return Tie::kSmall;
  return RunsDisagree(comparison) ? Tie::kUncertain : Tie::kNone;
}

std::string TieText(Tie tie) {
  switch (tie) {
    case Tie::kNone:
      return "";
    case Tie::kSmall:
      return fmt::format("tie within {:.0f} %", kEqualMargin * 100);
    case Tie::kUncertain:
      return "tie within their uncertainty";
  }
  return "";
}

std::string ResultText(const Comparison& comparison) {
  if (!comparison.ratio) return "–";
  const Tie tie = TieOf(comparison);
  const std::string result =
      tie != Tie::kNone ? TieText(tie) : (*comparison.ratio > 1 ? "faster" : "slower");
  return comparison.interval ? result : result + ", no interval";
}

}  // namespace ringside

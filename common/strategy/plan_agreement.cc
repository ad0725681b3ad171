#include "ringside/common/strategy/plan_agreement.h"

#include <charconv>
#include <cstddef>
#include <vector>

#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

constexpr char kOperation[] = "the start";

/// "worker 2", "workers 1, 3".
std::string Names(const std::vector<std::size_t>& ranks) {
  std::string names = ranks.size() == 1 ? "worker " : "workers ";
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (i > 0) names += ", ";
    names += std::to_string(ranks[i]);
  }
  return names;
}

/// Says how two different summaries differ.
std::string Difference(const PlanSummary& theirs, std::size_t rank, const PlanSummary& first) {
  const auto compared = [&](const char* what, auto their_value, auto first_value) {
    return "worker " + std::to_string(rank) + " has " + what + std::to_string(their_value) +
           ", worker 0 has " + what + std::to_string(first_value);
  };
  if (theirs.elements != first.elements) {
    return "its bucket plan differs: the number of elements: " +
           compared("", theirs.elements, first.elements) + ". Are their models the same?";
  }
  if (theirs.buckets != first.buckets) {
    return "its bucket plan differs: the number of buckets: " +
           compared("", theirs.buckets, first.buckets) + ". Are their bucket sizes the same?";
  }
  if (theirs.fingerprint != first.fingerprint) {
    return "its bucket plan differs: it has as many elements and buckets as worker 0's, but its "
           "tensors or buckets have other sizes";
  }
  return "the first step differs: " + compared("step ", theirs.first_step, first.first_step);
}

template <typename Number>
bool TakeNumber(std::string_view& text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc()) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (text.starts_with(' ')) text.remove_prefix(1);
  return true;
}

}  // namespace

std::string PlanSummary::ToText() const {
  return std::to_string(fingerprint) + " " + std::to_string(elements) + " " +
         std::to_string(buckets) + " " + std::to_string(first_step);
}

PlanSummary SummaryOf(const BucketPlan& plan, const StartPoint& from) {
  return {.fingerprint = plan.Fingerprint(),
          .elements = plan.elements(),
          .buckets = plan.buckets(),
          .first_step = from.step};
}

PlanSummary PlanSummaryFromText(std::string_view text, int rank) {
  PlanSummary summary;
  std::string_view rest = text;
  const bool read = TakeNumber(rest, summary.fingerprint) && TakeNumber(rest, summary.elements) &&
                    TakeNumber(rest, summary.buckets) && TakeNumber(rest, summary.first_step);
  if (read && rest.empty()) return summary;
  throw CommError("worker " + std::to_string(rank), kOperation,
                  "'" + std::string(text) + "' does not describe a bucket plan");
}

void CheckPlanAgreement(std::span<const PlanSummary> by_rank) {
  std::vector<std::size_t> differing;
  for (std::size_t rank = 1; rank < by_rank.size(); ++rank) {
    if (by_rank[rank] != by_rank[0]) differing.push_back(rank);
  }
  if (differing.empty()) return;
  const std::size_t first = differing.front();
  throw CommError(Names(differing), kOperation, Difference(by_rank[first], first, by_rank[0]));
}

}  // namespace ringside

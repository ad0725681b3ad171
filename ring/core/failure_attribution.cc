#include "ringside/ring/core/failure_attribution.h"

#include <fmt/format.h>

#include <chrono>
#include <set>

#include "ringside/common/core/deadline.h"
#include "ringside/common/core/errors.h"

namespace ringside {
namespace {

using namespace std::chrono_literals;

/// Within this time every rank that still runs has reported which rank it suspects.
constexpr auto kReportGrace = 300ms;

std::string KeyOf(const std::string& prefix, const std::string& reporter) {
  return fmt::format("{}/suspect of {}", prefix, reporter);
}

}  // namespace

void ReportMissingPeer(Store& store, const std::string& prefix, const std::string& reporter,
                       const std::string& suspect) {
  try {
    store.Set(KeyOf(prefix, reporter), suspect);
  } catch (const CommError&) {  // NOLINT(bugprone-empty-catch)
                                // The store is gone.
  }
}

std::string FindFailedPeer(Store& store, const std::string& prefix, const std::string& reporter,
                           const std::string& suspect) {
  const Deadline deadline = Deadline::After(kReportGrace);
  std::set<std::string> reporters{reporter};
  std::string culprit = suspect;
  try {
    while (reporters.insert(culprit).second) culprit = store.Get(KeyOf(prefix, culprit), deadline);
  } catch (const CommError&) {
    return culprit;  // it reports no rank
  }
  return suspect;  // they suspect each other
}

}  // namespace ringside

#include "ring/suspects.h"

#include <fmt/format.h>

#include <chrono>
#include <set>

#include "common/deadline.h"
#include "common/errors.h"

namespace ringside {
namespace {

using namespace std::chrono_literals;

/// Within which a rank that still runs has reported its own suspect.
constexpr auto kReportGrace = 300ms;

std::string KeyOf(const std::string& prefix, const std::string& reporter) {
  return fmt::format("{}/suspect of {}", prefix, reporter);
}

}  // namespace

void ReportSuspect(Store& store, const std::string& prefix, const std::string& reporter,
                   const std::string& suspect) {
  try {
    store.Set(KeyOf(prefix, reporter), suspect);
  } catch (const CommError&) {  // the store is gone
  }
}

std::string FindCulprit(Store& store, const std::string& prefix, const std::string& reporter,
                        const std::string& suspect) {
  const Deadline deadline = Deadline::After(kReportGrace);
  std::set<std::string> reporters{reporter};
  std::string culprit = suspect;
  try {
    while (reporters.insert(culprit).second) culprit = store.Get(KeyOf(prefix, culprit), deadline);
  } catch (const CommError&) {
    return culprit;  // it reports nobody
  }
  return suspect;  // they suspect each other
}

}  // namespace ringside

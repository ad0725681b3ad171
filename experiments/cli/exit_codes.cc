#include "ringside/experiments/cli/exit_codes.h"

#include <cstdio>
#include <exception>
#include <string>
#include <string_view>

#include "ringside/common/base/errors.h"
#include "ringside/common/base/lack_of_resources.h"
#include "ringside/experiments/text/printable.h"

namespace ringside {
namespace {

int Say(std::string_view text, int code) {
  PrintText(stderr, "ringside: {}\n", text);
  return code;
}

int Say(const std::exception& error, int code) { return Say(error.what(), code); }

}  // namespace

int ExitCodeOf(const JobOutcome& outcome, std::string_view spec_file) {
  switch (outcome.status) {
    case JobStatus::kDone:
      return kExitDone;
    case JobStatus::kTimedOut:
      return kExitTimedOut;
    case JobStatus::kInterrupted:
      return kExitInterrupted;
    case JobStatus::kFailed:
    case JobStatus::kDiverged:
      break;
  }
  if (outcome.failure == FailureKind::kMissingBackend) return kExitMissingBackend;
  if (outcome.failure == FailureKind::kConfig) {
    return spec_file.empty() ? kExitUsage : kExitInvalidSpec;
  }
  return kExitFailed;
}

int ReportCurrentException() {
  try {
    throw;
  } catch (const UsageError& error) {
    return Say(error, kExitUsage);
  } catch (const ConfigError& error) {
    return Say(error, kExitInvalidSpec);
  } catch (const MissingBackendError& error) {
    return Say(error, kExitMissingBackend);
  } catch (const std::exception& error) {
    const std::string lack = LackInCurrentException();
    return Say(lack.empty() ? error.what() : lack, kExitFailed);
  }
}

}  // namespace ringside

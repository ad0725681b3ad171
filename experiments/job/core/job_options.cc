#include "ringside/experiments/job/core/job_options.h"

#include "ringside/common/base/errors.h"

namespace ringside {

const char* OnFailureName(OnFailure on_failure) {
  switch (on_failure) {
    case OnFailure::kStop:
      return "stop";
    case OnFailure::kRestart:
      return "restart";
    case OnFailure::kShrink:
      return "shrink";
  }
  return "unknown";
}

OnFailure ParseOnFailure(const std::string& name) {
  for (const OnFailure known : {OnFailure::kStop, OnFailure::kRestart, OnFailure::kShrink}) {
    if (name == OnFailureName(known)) return known;
  }
  throw ConfigError("'" + name + "' is not one of stop, restart, shrink");
}

}  // namespace ringside

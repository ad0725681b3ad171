#include "experiments/report/study_findings.h"

#include <fmt/format.h>

namespace ringside {

const char* CertaintyName(Certainty certainty) {
  switch (certainty) {
    case Certainty::kClear:
      return "clear";
    case Certainty::kUnclear:
      return "unclear";
    case Certainty::kPointsOnly:
      return "points only";
  }
  return "";
}

}  // namespace ringside

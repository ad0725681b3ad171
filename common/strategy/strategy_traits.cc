#include "ringside/common/strategy/strategy_traits.h"

namespace ringside {

const char* FamilyName(Family family) {
  switch (family) {
    case Family::kRing:
      return "ring";
    case Family::kParameterServer:
      return "parameter server";
    case Family::kNone:
      break;
  }
  return "none";
}

}  // namespace ringside

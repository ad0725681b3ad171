#ifndef RINGSIDE_MODELS_PROFILE_SYNTHETIC_PROFILES_H_
#define RINGSIDE_MODELS_PROFILE_SYNTHETIC_PROFILES_H_

#include "ringside/models/profile/profile.h"

namespace ringside {

/// Makes 1,000 layers of one tensor of 4 KiB each. It is not a real network, but a test case for
/// combining small tensors into buckets.
Profile SmallTensorsProfile();

}  // namespace ringside

#endif  // RINGSIDE_MODELS_PROFILE_SYNTHETIC_PROFILES_H_

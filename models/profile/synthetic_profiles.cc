#include "ringside/models/profile/synthetic_profiles.h"

#include <string>
#include <utility>

namespace ringside {

Profile SmallTensorsProfile() {
  constexpr int kTensors = 1000;
  constexpr std::size_t kElements = 1024;
  Profile profile;
  for (int i = 0; i < kTensors; ++i) {
    const std::string name = "layer" + std::to_string(i) + ".weight";
    profile.layers.push_back({static_cast<double>(kElements), {{name, kElements}}});
  }
  return profile;
}

}  // namespace ringside

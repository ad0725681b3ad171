#ifndef RINGSIDE_MODELS_PROFILE_PROFILE_TABLE_H_
#define RINGSIDE_MODELS_PROFILE_PROFILE_TABLE_H_

#include <cstddef>
#include <span>
#include <string_view>

#include "ringside/models/profile/profile.h"

namespace ringside {

/// An entry of the table of profiles.
struct ProfileEntry {
  std::string_view name;  ///< The name of the model: "profile:resnet50".
  std::string_view summary;
  std::size_t parameters;  ///< As published; a test compares the profile with it.
  Profile (*make)();
};

/// The networks whose compute is emulated.
std::span<const ProfileEntry> ProfileTable();

}  // namespace ringside

#endif  // RINGSIDE_MODELS_PROFILE_PROFILE_TABLE_H_

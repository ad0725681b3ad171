#include "ringside/models/profile/profile_table.h"

#include <array>

#include "ringside/models/profile/image_profiles.h"
#include "ringside/models/profile/synthetic_profiles.h"
#include "ringside/models/profile/text_profiles.h"

namespace ringside {
namespace {

constexpr std::array kTable{
    ProfileEntry{"profile:resnet50", "emulated compute, 25.6 M real parameters", 25'557'032,
                 ResNet50Profile},
    ProfileEntry{"profile:vgg16", "emulated compute, 138.4 M real parameters", 138'357'544,
                 Vgg16Profile},
    ProfileEntry{"profile:mobilenet-v2", "emulated compute, 3.5 M real parameters", 3'504'872,
                 MobileNetV2Profile},
    ProfileEntry{"profile:bert-base", "emulated compute, 109.5 M real parameters", 109'482'240,
                 BertBaseProfile},
    ProfileEntry{"profile:gpt2", "emulated compute, 124.4 M real parameters", 124'439'808,
                 Gpt2Profile},
    ProfileEntry{"profile:small-tensors", "emulated compute, 1,000 tensors of 4 KiB", 1'024'000,
                 SmallTensorsProfile},
};

}  // namespace

std::span<const ProfileEntry> ProfileTable() { return kTable; }

}  // namespace ringside

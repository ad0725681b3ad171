#include "models/model_table.h"

#include <array>

#include "models/profile/profile.h"
#include "models/profile/profile_model.h"
#include "models/torch/torch_model_names.h"

namespace ringside {
namespace {

constexpr ModelEntry TorchEntry(const TorchModelName& name) {
  return {name.name, name.summary, true, nullptr, name.tensors};
}

template <Profile (*kProfile)()>
std::vector<TensorSpec> ProfileTensors(const ModelOptions&) {
  const ProfileModel model(kProfile(), 0);
  return {model.Tensors().begin(), model.Tensors().end()};
}

template <Profile (*kProfile)()>
constexpr ModelEntry ProfileEntry(std::string_view name, std::string_view summary) {
  return {name, summary, false,
          [](const ModelOptions& options) -> std::unique_ptr<Model> {
            return std::make_unique<ProfileModel>(kProfile(), options.compute_ms);
          },
          ProfileTensors<kProfile>};
}

constexpr std::array kTable{
    TorchEntry(kTorchModelNames[0]),
    TorchEntry(kTorchModelNames[1]),
    TorchEntry(kTorchModelNames[2]),
    ProfileEntry<ResNet50Profile>("profile:resnet50", "emulated compute, 25.6 M real parameters"),
    ProfileEntry<Vgg16Profile>("profile:vgg16", "emulated compute, 138.4 M real parameters"),
    ProfileEntry<MobileNetV2Profile>("profile:mobilenet-v2",
                                     "emulated compute, 3.5 M real parameters"),
    ProfileEntry<BertBaseProfile>("profile:bert-base", "emulated compute, 109.5 M real parameters"),
    ProfileEntry<Gpt2Profile>("profile:gpt2", "emulated compute, 124.4 M real parameters"),
    ProfileEntry<SmallTensorsProfile>("profile:small-tensors",
                                      "emulated compute, 1,000 tensors of 4 KiB"),
};

}  // namespace

std::span<const ModelEntry> ModelTable() { return kTable; }

}  // namespace ringside

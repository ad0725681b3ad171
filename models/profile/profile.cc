#include "ringside/models/profile/profile.h"

namespace ringside {

std::size_t Profile::parameters() const {
  std::size_t sum = 0;
  for (const ProfileLayer& layer : layers) {
    for (const TensorSpec& tensor : layer.tensors) sum += tensor.elements;
  }
  return sum;
}

double Profile::macs() const {
  double sum = 0;
  for (const ProfileLayer& layer : layers) sum += layer.macs;
  return sum;
}

std::vector<TensorSpec> TensorsOf(const Profile& profile) {
  std::vector<TensorSpec> tensors;
  for (auto layer = profile.layers.rbegin(); layer != profile.layers.rend(); ++layer)
    tensors.insert(tensors.end(), layer->tensors.rbegin(), layer->tensors.rend());
  return tensors;
}

}  // namespace ringside

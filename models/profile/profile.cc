#include "models/profile/profile.h"

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

}  // namespace ringside

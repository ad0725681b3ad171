#ifndef RINGSIDE_MODELS_PROFILE_PROFILE_H_
#define RINGSIDE_MODELS_PROFILE_PROFILE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "ringside/common/core/bucket_plan.h"

namespace ringside {

/// One stage of a profiled network.
struct ProfileLayer {
  /// Multiply-accumulate operations of the forward pass for one sample. They decide the stage's
  /// share of the emulated compute.
  double macs = 0;
  /// Trainable tensors, in the order in which the layer reads them. A tensor that several layers
  /// read belongs to the first of them.
  std::vector<TensorSpec> tensors;
};

/// The trainable tensors of a well-known network, and how its compute is divided among them.
struct Profile {
  std::vector<ProfileLayer> layers;  ///< In forward order.

  std::size_t parameters() const;
  double macs() const;
};

/// The trainable tensors in backward order, as `Model::Tensors` has them.
std::vector<TensorSpec> TensorsOf(const Profile& profile);

}  // namespace ringside

#endif  // RINGSIDE_MODELS_PROFILE_PROFILE_H_

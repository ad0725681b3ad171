#ifndef RINGSIDE_MODELS_PROFILE_PROFILE_H_
#define RINGSIDE_MODELS_PROFILE_PROFILE_H_

#include <cstddef>
#include <string>
#include <vector>

#include "common/bucket_plan.h"

namespace ringside {

/// One stage of a profiled network.
struct ProfileLayer {
  /// Multiply-accumulate operations of its forward pass for one sample: its share of the emulated
  /// compute.
  double macs = 0;
  /// Trainable tensors, in the order in which the layer reads them. Each tensor of the network
  /// belongs to the first layer that reads it.
  std::vector<TensorSpec> tensors;
};

/// The trainable tensors of a well-known network and how its work is spread over them.
struct Profile {
  std::vector<ProfileLayer> layers;  ///< In forward order.

  std::size_t parameters() const;
  double macs() const;
};

/// Image classifiers for 3 x 224 x 224 and 1,000 classes, with the tensors of torchvision's models.
Profile ResNet50Profile();     ///< He, Zhang, Ren and Sun (2015); 25,557,032 parameters.
Profile Vgg16Profile();        ///< Simonyan and Zisserman (2014), D; 138,357,544 parameters.
Profile MobileNetV2Profile();  ///< Sandler et al. (2018), width 1; 3,504,872 parameters.

/// Transformers, with the tensors of Hugging Face's models, for sequences of 512 and 1,024 tokens.
Profile BertBaseProfile();  ///< Devlin et al. (2018), uncased, with pooler; 109,482,240 parameters.
Profile Gpt2Profile();      ///< Radford et al. (2019), smallest; 124,439,808 parameters.

/// 1,000 layers of one tensor of 4 KiB each: no network, but what coalescing is for.
Profile SmallTensorsProfile();

}  // namespace ringside

#endif  // RINGSIDE_MODELS_PROFILE_PROFILE_H_

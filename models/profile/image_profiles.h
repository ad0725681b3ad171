#ifndef RINGSIDE_MODELS_PROFILE_IMAGE_PROFILES_H_
#define RINGSIDE_MODELS_PROFILE_IMAGE_PROFILES_H_

#include "ringside/models/profile/profile.h"

namespace ringside {

// Image classifiers for 3 x 224 x 224 and 1,000 classes, with the tensors of torchvision's models.

Profile ResNet50Profile();     ///< He, Zhang, Ren and Sun (2015).
Profile Vgg16Profile();        ///< Simonyan and Zisserman (2014), D.
Profile MobileNetV2Profile();  ///< Sandler et al. (2018), width 1.

}  // namespace ringside

#endif  // RINGSIDE_MODELS_PROFILE_IMAGE_PROFILES_H_

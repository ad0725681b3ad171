#ifndef RINGSIDE_MODELS_PROFILE_TEXT_PROFILES_H_
#define RINGSIDE_MODELS_PROFILE_TEXT_PROFILES_H_

#include "ringside/models/profile/profile.h"

namespace ringside {

// Transformers, with the tensors of Hugging Face's models, for sequences of 512 and 1,024 tokens.

Profile BertBaseProfile();  ///< Devlin et al. (2018), uncased, with pooler.
Profile Gpt2Profile();      ///< Radford et al. (2019), smallest.

}  // namespace ringside

#endif  // RINGSIDE_MODELS_PROFILE_TEXT_PROFILES_H_

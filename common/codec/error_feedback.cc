#include "ringside/common/codec/error_feedback.h"

#include "ringside/common/codec/codec_math.h"

namespace ringside {

void ErrorFeedbackCodec::Encode(std::span<const float> values, const GradientPosition& place,
                                std::span<std::byte> out) {
  const std::span<float> residual = std::span(residual_).subspan(place.offset, values.size());
  AddScaled(1, values, residual);
  codec_->Encode(residual, place, out);
  codec_->Add({out, values.size()}, 0, -1, residual);
}

}  // namespace ringside

#ifndef RINGSIDE_COMMON_CODEC_ERROR_FEEDBACK_H_
#define RINGSIDE_COMMON_CODEC_ERROR_FEEDBACK_H_

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ringside/common/codec/codec.h"

namespace ringside {

/// Error feedback around any codec (Seide et al., Interspeech 2014; Stich et al., NeurIPS 2018). It
/// keeps what an encoding loses and adds it to the next values at the same position. So no part of
/// a gradient is lost: all decoded values plus the residual are equal to the sum of all encoded
/// values. Holds one flat vector, the residual. It starts at zero.
class ErrorFeedbackCodec : public Codec {
 public:
  /// `elements`: length of the flat vector.
  ErrorFeedbackCodec(std::unique_ptr<Codec> codec, std::size_t elements)
      : codec_(std::move(codec)), residual_(elements) {}

  std::size_t block() const override { return codec_->block(); }
  const EncodingParts* parts() const override { return codec_->parts(); }
  std::span<float> Residual() override { return residual_; }

  std::size_t EncodedBytes(std::size_t elements) const override {
    return codec_->EncodedBytes(elements);
  }
  void Encode(std::span<const float> values, const GradientPosition& place,
              std::span<std::byte> out) override;
  std::string Validate(const Encoding& encoding) const override {
    return codec_->Validate(encoding);
  }
  void Decode(const Encoding& encoding, std::size_t begin, std::span<float> out) const override {
    codec_->Decode(encoding, begin, out);
  }
  void Add(const Encoding& encoding, std::size_t begin, float factor,
           std::span<float> sum) const override {
    codec_->Add(encoding, begin, factor, sum);
  }

 private:
  std::unique_ptr<Codec> codec_;
  std::vector<float> residual_;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_CODEC_ERROR_FEEDBACK_H_

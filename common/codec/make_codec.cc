#include <memory>
#include <utility>

#include "common/codec/codec.h"
#include "common/codec/error_feedback.h"
#include "common/codec/half_codec.h"
#include "common/codec/int8_codec.h"
#include "common/codec/never_longer_codec.h"
#include "common/codec/power_sgd.h"
#include "common/codec/sign_codec.h"
#include "common/codec/top_k_codec.h"
#include "common/errors.h"

namespace ringside {
namespace {

std::unique_ptr<Codec> NeverLonger(std::unique_ptr<Codec> codec) {
  return std::make_unique<NeverLongerCodec>(std::move(codec));
}

}  // namespace

std::unique_ptr<Codec> MakeBareCodec(const CodecOptions& options, int rank) {
  switch (options.kind) {
    case CodecKind::kFp16:
      return std::make_unique<HalfCodec>(HalfKind::kFp16);
    case CodecKind::kBf16:
      return std::make_unique<HalfCodec>(HalfKind::kBf16);
    case CodecKind::kInt8:
      return NeverLonger(std::make_unique<Int8Codec>(options.seed, rank));
    case CodecKind::kTopK:
      return NeverLonger(std::make_unique<TopKCodec>(options.ratio));
    case CodecKind::kSign:
      return NeverLonger(std::make_unique<SignCodec>());
    case CodecKind::kFp32:
    case CodecKind::kPowerSgd:
      break;
  }
  throw InternalError("codec '" + CodecText(options) + "' encodes no gradient by itself");
}

std::unique_ptr<Codec> MakeCodec(const CodecOptions& options, int rank, std::size_t elements) {
  std::unique_ptr<Codec> codec = MakeBareCodec(options, rank);
  if (!FeedsErrorsBack(options)) return codec;
  return std::make_unique<ErrorFeedbackCodec>(std::move(codec), elements);
}

std::size_t WireBytes(const CodecOptions& options, std::size_t elements) {
  if (options.kind == CodecKind::kFp32) return elements * sizeof(float);
  if (options.kind == CodecKind::kPowerSgd) {
    return PowerSgdShape(elements, options.rank).factor_floats() * sizeof(float);
  }
  return MakeBareCodec(options, 0)->EncodedBytes(elements);
}

}  // namespace ringside

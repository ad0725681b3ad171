#include "ringside/common/codec/codec_table.h"

#include <array>

#include "ringside/common/codec/codec_options.h"
#include "ringside/common/codec/half_codec.h"
#include "ringside/common/codec/int8_codec.h"
#include "ringside/common/codec/power_sgd.h"
#include "ringside/common/codec/sign_codec.h"
#include "ringside/common/codec/top_k_codec.h"

namespace ringside {

std::span<const CodecEntry* const> BuiltinCodecs() {
  static constexpr std::array<const CodecEntry*, 7> kCodecs{
      &kFp32Codec, &kFp16Codec, &kBf16Codec, &kInt8Codec, &kTopKCodec, &kPowerSgdCodec, &kSignCodec,
  };
  return kCodecs;
}

}  // namespace ringside

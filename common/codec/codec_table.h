#ifndef RINGSIDE_COMMON_CODEC_CODEC_TABLE_H_
#define RINGSIDE_COMMON_CODEC_CODEC_TABLE_H_

#include <span>

#include "ringside/common/codec/codec_entry.h"

namespace ringside {

/// Ringside's own codecs. A program that has more passes a longer table to `ParseCodec`.
std::span<const CodecEntry* const> BuiltinCodecs();

}  // namespace ringside

#endif  // RINGSIDE_COMMON_CODEC_CODEC_TABLE_H_

#include <memory>
#include <utility>

#include "ringside/common/base/errors.h"
#include "ringside/common/codec/codec.h"
#include "ringside/common/codec/error_feedback.h"

namespace ringside {

std::unique_ptr<Codec> MakeBareCodec(const CodecOptions& options, int rank) {
  if (options.entry->make != nullptr) return options.entry->make(options, rank);
  throw InternalError("codec '" + CodecText(options) + "' encodes no gradient by itself");
}

std::unique_ptr<Codec> MakeCodec(const CodecOptions& options, int rank, std::size_t elements) {
  std::unique_ptr<Codec> codec = MakeBareCodec(options, rank);
  if (!UsesErrorFeedback(options)) return codec;
  return std::make_unique<ErrorFeedbackCodec>(std::move(codec), elements);
}

std::size_t CodecBlock(const CodecOptions& options) {
  return options.entry->make == nullptr ? 1 : MakeBareCodec(options, 0)->block();
}

std::size_t WireBytes(const CodecOptions& options, std::size_t elements) {
  if (options.entry->wire_bytes != nullptr) return options.entry->wire_bytes(options, elements);
  return MakeBareCodec(options, 0)->EncodedBytes(elements);
}

}  // namespace ringside

#include "ringside/paramserver/wire/wire_codec.h"

#include <string>

#include "ringside/paramserver/wire/refusal.h"

namespace ringside {

std::size_t WireFloats(const CodecOptions& options, std::size_t elements) {
  return PaddedFloats(WireBytes(options, elements));
}

// A server needs no rank and no random numbers: it only decodes, or rounds to nearest.
std::unique_ptr<Codec> MakeWireCodec(const CodecOptions& options) {
  return options.encodes() ? MakeBareCodec(options, 0) : nullptr;
}

PayloadPtr TakeEncoding(const Payload& payload, const Codec& codec, std::size_t elements,
                        PayloadPool<JoinedPayload>& pool) {
  auto joined = pool.Take();
  joined->Assign(payload, payload.bytes());
  const Encoding padded{joined->pieces().front(), elements};
  const EncodingParts* parts = codec.parts();
  const std::size_t bytes =
      parts == nullptr ? codec.EncodedBytes(elements) : parts->UnpaddedBytes(padded);
  if (PaddedFloats(bytes) * sizeof(float) != padded.bytes.size()) {
    throw RefusedError(RefusalCode::kInvalid,
                       "a damaged gradient: " + std::to_string(padded.bytes.size()) +
                           " bytes came for an encoding of " + std::to_string(bytes));
  }
  joined->Shorten(bytes);
  const Encoding encoding{joined->pieces().front(), elements};
  const std::string damage =
      parts == nullptr ? codec.Validate(encoding) : parts->ValidatePart(encoding);
  if (!damage.empty()) throw RefusedError(RefusalCode::kInvalid, "a damaged gradient: " + damage);
  return joined;
}

}  // namespace ringside

#ifndef RINGSIDE_PARAMSERVER_WIRE_WIRE_CODEC_H_
#define RINGSIDE_PARAMSERVER_WIRE_WIRE_CODEC_H_

#include <cstddef>
#include <memory>

#include "ringside/common/codec/codec.h"
#include "ringside/paramserver/wire/payload_pool.h"

namespace ringside {

/// Encodings between workers and servers are padded with zeros to whole floats, so that transports
/// treat them like floats. Returns how many floats so many bytes take.
constexpr std::size_t PaddedFloats(std::size_t bytes) {
  return (bytes + sizeof(float) - 1) / sizeof(float);
}

/// How many floats the encoding of a slice takes on the wire; for fp32 that is `elements`. Of a
/// codec whose `PartLengthsVary` a slice may take fewer, or up to `elements`.
std::size_t WireFloats(const CodecOptions& options, std::size_t elements);

/// The codec with which a server decodes pushes or encodes replies; null for fp32.
std::unique_ptr<Codec> MakeWireCodec(const CodecOptions& options);

/// Copies the encoding of `elements` floats, or the part of an encoding with so many, from a
/// received payload into one piece, a payload of `pool`. Throws `RefusedError` for bytes that are
/// not a valid encoding.
PayloadPtr TakeEncoding(const Payload& payload, const Codec& codec, std::size_t elements,
                        PayloadPool<JoinedPayload>& pool);

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_WIRE_WIRE_CODEC_H_

#ifndef RINGSIDE_PARAMSERVER_WIRE_WIRE_CODEC_H_
#define RINGSIDE_PARAMSERVER_WIRE_WIRE_CODEC_H_

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "ringside/common/codec/codec.h"
#include "ringside/common/measure/recorder.h"
#include "ringside/paramserver/wire/payload_pool.h"

namespace ringside {

/// How many floats the encoding of a slice takes on the wire; for fp32 that is `elements`.
/// Encodings between workers and servers are padded with zeros to whole floats, so that transports
/// treat them like floats.
std::size_t WireFloats(const CodecOptions& options, std::size_t elements);

/// The codec with which a server decodes pushes or encodes replies; null for fp32.
std::unique_ptr<Codec> MakeWireCodec(const CodecOptions& options);

/// Copies the encoding of `elements` floats from a received payload into one piece, a payload of
/// `pool`. Throws `RefusedError` for bytes that are not a valid encoding.
PayloadPtr TakeEncoding(const Payload& payload, const Codec& codec, std::size_t elements,
                        PayloadPool<JoinedPayload>& pool);

/// The codecs of a worker. They encode gradients, with error feedback if it is on, and decode the
/// replies of servers. Each slice has one buffer for each direction.
///
/// Thread safety: one thread calls `Encode`. Any thread may call `DecodeReply`; several threads may
/// decode different slices at the same time.
class WireCodec {
 public:
  /// `slices` are the lengths of the slices. `options` must not be those of fp32.
  WireCodec(const CodecOptions& options, int rank, std::size_t elements,
            const std::vector<std::size_t>& slices, Recorder& recorder);

  /// The present encoding of a slice, which is sent.
  std::span<const float> PushBuffer(int slice) const { return At(slice).push; }
  void Encode(int slice, std::span<const float> grads, const GradientPosition& place);

  /// True: parameters come encoded. They are received in the slice's `ReplyBuffer` and then
  /// decoded. False: they come as floats.
  bool decodes_replies() const { return reply_codec_ != nullptr; }
  std::span<float> ReplyBuffer(int slice) { return At(slice).reply; }
  void DecodeReply(int slice, std::span<float> params) const;
  /// As `Codec::Residual`.
  std::span<float> Residual() { return codec_->Residual(); }

 private:
  struct Buffers {
    std::vector<float> push;
    std::vector<float> reply;
  };

  Buffers& At(int slice) { return slices_[static_cast<std::size_t>(slice)]; }
  const Buffers& At(int slice) const { return slices_[static_cast<std::size_t>(slice)]; }

  std::unique_ptr<Codec> codec_;
  std::unique_ptr<Codec> reply_codec_;  // null: fp32
  std::vector<Buffers> slices_;
};

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_WIRE_WIRE_CODEC_H_

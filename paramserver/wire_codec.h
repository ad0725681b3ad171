#ifndef RINGSIDE_PARAMSERVER_WIRE_CODEC_H_
#define RINGSIDE_PARAMSERVER_WIRE_CODEC_H_

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "common/codec/codec.h"
#include "common/measure/recorder.h"
#include "common/strategy_options.h"
#include "paramserver/payload.h"

namespace ringside {

/// Encodings travel between workers and servers as whole floats' worth of bytes, filled up with
/// zeros, so that transports carry them like floats. How many floats' worth those of a bucket are;
/// of fp32 the bucket itself.
std::size_t WireFloats(const CodecOptions& options, std::size_t elements);

/// What a server decodes pushes with, or encodes replies with; null for fp32.
std::unique_ptr<Codec> MakeWireCodec(const CodecOptions& options);

/// The encoding of `elements` floats in a payload that arrived, in one piece. Throws `RefusedError`
/// for bytes that no codec wrote.
std::unique_ptr<const Payload> TakeEncoding(const Payload& payload, const Codec& codec,
                                            std::size_t elements);

/// Why parameter servers cannot run with this codec, for `StrategyEntry::check`.
std::optional<OptionRefusal> CheckServerCodec(const StrategyOptions& options);

/// The worker's end: encodes gradients, with error feedback where it is on, and decodes what
/// servers answer. One buffer a bucket and direction. Thread safety: one thread at a time.
class WireCodec {
 public:
  /// `buckets`: the length of each. `options` are not fp32's.
  WireCodec(const CodecOptions& options, int rank, std::size_t elements,
            const std::vector<std::size_t>& buckets, Recorder& recorder);

  /// What to send of a bucket; stays until the bucket is encoded again.
  std::span<const float> Encode(int bucket, std::span<const float> grads, const CodecPlace& place);
  /// Where the answer to a bucket's push must be received: `params` themselves where they come as
  /// floats.
  std::span<float> ReplyBuffer(int bucket, std::span<float> params);
  /// What has been received there, as parameters.
  void DecodeReply(int bucket, std::span<float> params);

 private:
  struct Buffers {
    std::vector<float> push;
    std::vector<float> reply;
    bool replied = false;  // `reply` waits to be decoded
  };

  std::unique_ptr<Codec> codec_;
  std::unique_ptr<Codec> reply_codec_;  // null: fp32
  std::vector<Buffers> buckets_;
};

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_WIRE_CODEC_H_

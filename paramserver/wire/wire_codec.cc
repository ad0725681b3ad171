#include "ringside/paramserver/wire/wire_codec.h"

#include <string>
#include <utility>

#include "ringside/common/codec/timed_codec.h"
#include "ringside/paramserver/wire/refusal.h"

namespace ringside {

std::size_t WireFloats(const CodecOptions& options, std::size_t elements) {
  return (WireBytes(options, elements) + sizeof(float) - 1) / sizeof(float);
}

// A server needs no rank and no random numbers: it only decodes, or rounds to nearest.
std::unique_ptr<Codec> MakeWireCodec(const CodecOptions& options) {
  return options.encodes() ? MakeBareCodec(options, 0) : nullptr;
}

PayloadPtr TakeEncoding(const Payload& payload, const Codec& codec, std::size_t elements,
                        PayloadPool<JoinedPayload>& pool) {
  auto joined = pool.Take();
  joined->Assign(payload, codec.EncodedBytes(elements));  // without the padding
  const std::string damage = codec.Validate({joined->pieces().front(), elements});
  if (!damage.empty()) throw RefusedError(RefusalCode::kInvalid, "a damaged gradient: " + damage);
  return joined;
}

WireCodec::WireCodec(const CodecOptions& options, int rank, std::size_t elements,
                     const std::vector<std::size_t>& slices, Recorder& recorder)
    : codec_(std::make_unique<TimedCodec>(MakeCodec(options, rank, elements), recorder)) {
  const CodecOptions reply = ReplyCodec(options);
  if (auto codec = MakeWireCodec(reply)) {
    reply_codec_ = std::make_unique<TimedCodec>(std::move(codec), recorder);
  }
  for (const std::size_t size : slices) {
    slices_.push_back({.push = std::vector<float>(WireFloats(options, size)),
                       .reply = std::vector<float>(reply_codec_ ? WireFloats(reply, size) : 0)});
  }
}

void WireCodec::Encode(int slice, std::span<const float> grads, const GradientPosition& place) {
  const auto bytes = std::as_writable_bytes(std::span(At(slice).push));
  codec_->Encode(grads, place, bytes.first(codec_->EncodedBytes(grads.size())));
}

void WireCodec::DecodeReply(int slice, std::span<float> params) const {
  const auto bytes = std::as_bytes(std::span(At(slice).reply));
  reply_codec_->Decode({bytes.first(reply_codec_->EncodedBytes(params.size())), params.size()}, 0,
                       params);
}

}  // namespace ringside

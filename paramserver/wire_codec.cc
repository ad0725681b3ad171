#include "paramserver/wire_codec.h"

#include <algorithm>
#include <string>
#include <utility>

#include "common/codec/timed_codec.h"
#include "paramserver/refusal.h"

namespace ringside {

std::size_t WireFloats(const CodecOptions& options, std::size_t elements) {
  return (WireBytes(options, elements) + sizeof(float) - 1) / sizeof(float);
}

// A server only decodes, and encodes what is rounded to nearest: no rank, no randomness.
std::unique_ptr<Codec> MakeWireCodec(const CodecOptions& options) {
  return options.kind == CodecKind::kFp32 ? nullptr : MakeBareCodec(options, 0);
}

std::unique_ptr<const Payload> TakeEncoding(const Payload& payload, const Codec& codec,
                                            std::size_t elements) {
  std::vector<std::byte> bytes;
  bytes.reserve(payload.bytes());
  for (const Piece& piece : payload.pieces()) bytes.insert(bytes.end(), piece.begin(), piece.end());
  bytes.resize(std::min(bytes.size(), codec.EncodedBytes(elements)));  // without what fills it up
  const std::string damage = codec.DamageOf({bytes, elements});
  if (!damage.empty()) throw RefusedError(RefusalCode::kInvalid, "a damaged gradient: " + damage);
  return std::make_unique<OwnedPayload>(std::move(bytes));
}

std::optional<OptionRefusal> CheckServerCodec(const StrategyOptions& options) {
  const CodecOptions& codec = options.codec;
  if (codec.kind == CodecKind::kPowerSgd) {
    return OptionRefusal{"codec",
                         "powersgd sums one factor before it computes the other, which would take "
                         "two rounds with a server; take an all-reduce, or topk, sign, int8, fp16"};
  }
  if (auto refusal = CheckErrorFeedback(codec)) return refusal;
  if (codec.kind != CodecKind::kFp32 && options.ps_transport == PsTransport::kShm) {
    return OptionRefusal{"codec",
                         "nothing travels through shared memory: encoding would only cost time; "
                         "take ps-transport grpc, or fp32"};
  }
  return std::nullopt;
}

WireCodec::WireCodec(const CodecOptions& options, int rank, std::size_t elements,
                     const std::vector<std::size_t>& buckets, Recorder& recorder)
    : codec_(std::make_unique<TimedCodec>(MakeCodec(options, rank, elements), recorder)) {
  const CodecOptions reply = ReplyCodec(options);
  if (auto codec = MakeWireCodec(reply)) {
    reply_codec_ = std::make_unique<TimedCodec>(std::move(codec), recorder);
  }
  for (const std::size_t size : buckets) {
    buckets_.push_back({.push = std::vector<float>(WireFloats(options, size)),
                        .reply = std::vector<float>(reply_codec_ ? WireFloats(reply, size) : 0)});
  }
}

std::span<const float> WireCodec::Encode(int bucket, std::span<const float> grads,
                                         const CodecPlace& place) {
  std::vector<float>& out = buckets_[static_cast<std::size_t>(bucket)].push;
  const auto bytes = std::as_writable_bytes(std::span(out));
  codec_->Encode(grads, place, bytes.first(codec_->EncodedBytes(grads.size())));
  return out;
}

std::span<float> WireCodec::ReplyBuffer(int bucket, std::span<float> params) {
  if (reply_codec_ == nullptr) return params;
  Buffers& buffers = buckets_[static_cast<std::size_t>(bucket)];
  buffers.replied = true;
  return buffers.reply;
}

void WireCodec::DecodeReply(int bucket, std::span<float> params) {
  Buffers& buffers = buckets_[static_cast<std::size_t>(bucket)];
  if (!buffers.replied) return;
  buffers.replied = false;
  const auto bytes = std::as_bytes(std::span(buffers.reply));
  reply_codec_->Decode({bytes.first(reply_codec_->EncodedBytes(params.size())), params.size()}, 0,
                       params);
}

}  // namespace ringside

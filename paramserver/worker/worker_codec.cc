#include "ringside/paramserver/worker/worker_codec.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "ringside/common/codec/timed_codec.h"
#include "ringside/paramserver/wire/wire_codec.h"

namespace ringside {

static_assert(SlicePlan::kAlignment % EncodingParts::kAlignment == 0);

WorkerCodec::WorkerCodec(const CodecOptions& options, int rank, std::size_t elements,
                         const SlicePlan& slices, Recorder& recorder)
    : plan_(slices),
      recorder_(recorder),
      codec_(std::make_unique<TimedCodec>(MakeCodec(options, rank, elements), recorder)),
      slices_(static_cast<std::size_t>(slices.slices())),
      buckets_(static_cast<std::size_t>(slices.buckets())) {
  const CodecOptions reply = ReplyCodec(options);
  if (auto codec = MakeWireCodec(reply)) {
    reply_codec_ = std::make_unique<TimedCodec>(std::move(codec), recorder);
  }
  for (int bucket = 0; bucket < slices.buckets(); ++bucket) {
    floats_.clear();
    for (int slice = slices.first_slice(bucket); slice < slices.end_slice(bucket); ++slice) {
      const std::size_t size = slices.slice(slice).size;
      floats_.push_back(WireFloats(options, size));
      if (reply_codec_) At(slice).reply.resize(WireFloats(reply, size));
    }
    LayOut(bucket);
  }
}

void WorkerCodec::LayOut(int bucket) {
  std::vector<float>& push = buckets_[static_cast<std::size_t>(bucket)].push;
  const std::size_t sum = std::accumulate(floats_.begin(), floats_.end(), std::size_t{0});
  // Padding differs from step to step. So there is room for that of all slices.
  if (push.size() < sum) push.resize(sum + floats_.size());
  std::span<float> rest = push;
  int slice = plan_.first_slice(bucket);
  for (const std::size_t floats : floats_) {
    At(slice++).push = rest.first(floats);
    rest = rest.subspan(floats);
  }
}

void WorkerCodec::Encode(int slice, std::span<const float> grads, std::int64_t step) {
  const auto bytes = std::as_writable_bytes(At(slice).push);
  codec_->Encode(grads, {plan_.slice(slice).begin, step},
                 bytes.first(codec_->EncodedBytes(grads.size())));
}

void WorkerCodec::EncodeBucket(int bucket, std::span<const float> grads, std::int64_t step) {
  const int first = plan_.first_slice(bucket);
  const int end = plan_.end_slice(bucket);
  if (end - first == 1) return Encode(first, grads, step);
  std::vector<std::byte>& whole = buckets_[static_cast<std::size_t>(bucket)].whole;
  whole.resize(codec_->EncodedBytes(grads.size()));
  const std::size_t offset = plan_.slice(first).begin;
  codec_->Encode(grads, {offset, step}, whole);

  const CodecStopwatch stopwatch(recorder_);
  const Encoding encoding{whole, grads.size()};
  const EncodingParts& parts = *codec_->parts();
  floats_.clear();
  for (int index = first; index < end; ++index) {
    const Slice& slice = plan_.slice(index);
    floats_.push_back(PaddedFloats(parts.PartBytes(encoding, slice.begin - offset, slice.size)));
  }
  LayOut(bucket);
  for (int index = first; index < end; ++index) {
    const Slice& slice = plan_.slice(index);
    const std::size_t begin = slice.begin - offset;
    const auto out = std::as_writable_bytes(At(index).push);
    const std::size_t bytes = parts.PartBytes(encoding, begin, slice.size);
    parts.CopyPart(encoding, begin, slice.size, out.first(bytes));
    std::ranges::fill(out.subspan(bytes), std::byte{0});
  }
}

void WorkerCodec::DecodeReply(int slice, std::span<float> params) const {
  const auto bytes = std::as_bytes(std::span(At(slice).reply));
  reply_codec_->Decode({bytes.first(reply_codec_->EncodedBytes(params.size())), params.size()}, 0,
                       params);
}

}  // namespace ringside

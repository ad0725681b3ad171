#ifndef RINGSIDE_PARAMSERVER_WORKER_WORKER_CODEC_H_
#define RINGSIDE_PARAMSERVER_WORKER_WORKER_CODEC_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ringside/common/codec/codec.h"
#include "ringside/common/measure/recorder.h"
#include "ringside/paramserver/slicing/slice_plan.h"

namespace ringside {

/// The codecs of a worker. They encode gradients, with error feedback if it is on, and decode the
/// replies of servers.
///
/// A codec with `EncodingParts` encodes a bucket, as rings do, and its slices are parts of the
/// encoding. Any other codec encodes each slice by itself, so that the first slice leaves earlier;
/// slices begin at multiples of `Codec::block`. So how buckets are cut changes no bit.
///
/// Thread safety: one thread encodes and decodes. Another one may call the other functions for a
/// bucket that is not under way.
class WorkerCodec {
 public:
  /// `options` must not be those of fp32. `elements`: of all buckets together. Borrows `slices`.
  WorkerCodec(const CodecOptions& options, int rank, std::size_t elements, const SlicePlan& slices,
              Recorder& recorder);

  bool encodes_buckets() const { return codec_->parts() != nullptr; }
  /// The encoding of a slice, which is sent. `EncodeBucket` changes where it is and its length.
  std::span<const float> Push(int slice) const { return At(slice).push; }
  /// Of a codec that encodes slices.
  void Encode(int slice, std::span<const float> grads, std::int64_t step);
  /// Of a codec that encodes buckets: encodes all slices of this one.
  void EncodeBucket(int bucket, std::span<const float> grads, std::int64_t step);

  /// True: parameters come encoded. They are received in the slice's `ReplyBuffer` and then
  /// decoded. False: they come as floats.
  bool decodes_replies() const { return reply_codec_ != nullptr; }
  std::span<float> ReplyBuffer(int slice) { return At(slice).reply; }
  void DecodeReply(int slice, std::span<float> params) const;
  /// As `Codec::Residual`.
  std::span<float> Residual() { return codec_->Residual(); }

 private:
  struct SliceBuffers {
    std::span<float> push;  // within that of the bucket
    std::vector<float> reply;
  };
  struct BucketBuffers {
    std::vector<std::byte> whole;  // its encoding, unless it is one slice
    std::vector<float> push;       // the encodings of its slices, one after the other
  };

  SliceBuffers& At(int slice) { return slices_[static_cast<std::size_t>(slice)]; }
  const SliceBuffers& At(int slice) const { return slices_[static_cast<std::size_t>(slice)]; }
  /// Gives the slices of a bucket so many floats each, in `floats_`.
  void LayOut(int bucket);

  const SlicePlan& plan_;
  Recorder& recorder_;
  std::unique_ptr<Codec> codec_;
  std::unique_ptr<Codec> reply_codec_;  // null: fp32
  std::vector<SliceBuffers> slices_;
  std::vector<BucketBuffers> buckets_;
  std::vector<std::size_t> floats_;  // by slice of one bucket
};

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_WORKER_WORKER_CODEC_H_

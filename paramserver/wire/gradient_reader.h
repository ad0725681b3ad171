#ifndef RINGSIDE_PARAMSERVER_WIRE_GRADIENT_READER_H_
#define RINGSIDE_PARAMSERVER_WIRE_GRADIENT_READER_H_

#include <cstddef>
#include <span>

#include "ringside/common/codec/codec.h"
#include "ringside/paramserver/wire/payload.h"

namespace ringside {

/// Reads a gradient (floats or an encoding) from front to back in blocks. The length of a block is
/// a multiple of `Codec::kAlignment`, except for the last one. Borrows its arguments.
class GradientReader {
 public:
  /// `codec` null: `payload` contains floats. Otherwise it contains an encoding of `elements`
  /// floats, in one piece and already checked (`TakeEncoding`).
  GradientReader(const Payload& payload, const Codec* codec, std::size_t elements)
      : codec_(codec), encoding_{{}, elements}, floats_(payload.pieces()) {
    if (codec_ == nullptr) return;
    encoding_.bytes = payload.pieces().front();
    count_.added = encoding_.bytes.size();
  }

  /// out = the next out.size() floats.
  void Assign(std::span<float> out) {
    if (codec_ == nullptr) return floats_.Assign(out);
    codec_->Decode(encoding_, position_, out);
    position_ += out.size();
  }
  /// sum += the next sum.size() floats.
  void Add(std::span<float> sum) {
    if (codec_ == nullptr) return floats_.Add(sum);
    codec_->Add(encoding_, position_, 1, sum);
    position_ += sum.size();
  }

  const CopyCount& count() const { return codec_ == nullptr ? floats_.count() : count_; }

 private:
  const Codec* codec_;
  Encoding encoding_;
  std::size_t position_ = 0;
  FloatReader floats_;
  CopyCount count_;
};

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_WIRE_GRADIENT_READER_H_

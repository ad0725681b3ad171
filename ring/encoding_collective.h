#ifndef RINGSIDE_RING_ENCODING_COLLECTIVE_H_
#define RINGSIDE_RING_ENCODING_COLLECTIVE_H_

#include <span>
#include <string>

#include "common/codec/codec.h"
#include "ring/collective.h"

namespace ringside {

/// A collective whose sums can be decoded, added to and encoded anew on their way.
class EncodingCollective : public Collective {
 public:
  /// As `AllReduceSum`, with every partial sum encoded by `codec`, this rank's own; `place` is that
  /// of data[0]. All ranks hold the same bits.
  virtual void AllReduceEncoded(std::span<float> data, Codec& codec, const CodecPlace& place,
                                const std::string& what) = 0;
};

}  // namespace ringside

#endif  // RINGSIDE_RING_ENCODING_COLLECTIVE_H_

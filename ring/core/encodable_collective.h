#ifndef RINGSIDE_RING_CORE_ENCODABLE_COLLECTIVE_H_
#define RINGSIDE_RING_CORE_ENCODABLE_COLLECTIVE_H_

#include "ringside/common/codec/codec.h"
#include "ringside/ring/core/collective.h"

namespace ringside {

/// A collective that can send encoded partial sums: ranks decode, add and encode again.
class EncodableCollective : public Collective {
 public:
  /// Optional, after `Prepare`: prepares encoded sums of the buckets in `plan`.
  virtual void PrepareEncoded(const BucketPlan& /*plan*/, const Codec& /*codec*/) {}
  /// Like `AllReduceSum`, but encodes every partial sum with `codec`, which belongs to this rank.
  /// All ranks have the same bits afterwards.
  virtual void AllReduceEncoded(const BucketMessage& message, Codec& codec) = 0;
};

}  // namespace ringside

#endif  // RINGSIDE_RING_CORE_ENCODABLE_COLLECTIVE_H_

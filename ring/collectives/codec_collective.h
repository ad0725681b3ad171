#ifndef RINGSIDE_RING_COLLECTIVES_CODEC_COLLECTIVE_H_
#define RINGSIDE_RING_COLLECTIVES_CODEC_COLLECTIVE_H_

#include <memory>
#include <optional>

#include "ringside/common/measure/recorder.h"
#include "ringside/common/measure/timeline.h"
#include "ringside/common/strategy/strategy_options.h"
#include "ringside/ring/core/collective.h"
#include "ringside/ring/core/collective_entry.h"

namespace ringside {

/// Makes the collective of `entry` with sums of gradients encoded as `context.options.codec` says.
/// For fp32, and in a world of one, it is the plain collective. Broadcasts and gathers are never
/// encoded. After a sum all ranks have the same bits.
///
/// With fp16, bf16 and int8 each rank decodes, adds and encodes again (encoded_links.h); `entry`
/// must support that. The other three work on any collective: top-k and sign encodings are gathered
/// and added in rank order; PowerSGD sums its factors. They take whole buckets of the space that
/// `Prepare` got. Every encoded sum before `Prepare` throws `InternalError`.
std::unique_ptr<Collective> MakeSum(const CollectiveEntry& entry, CollectiveContext context,
                                    Recorder& recorder, Timeline& timeline);

/// Returns why `MakeSum` of `entry` cannot use this codec, if it cannot.
std::optional<OptionRefusal> CheckCodecOn(const CollectiveEntry& entry, const CodecOptions& codec);

}  // namespace ringside

#endif  // RINGSIDE_RING_COLLECTIVES_CODEC_COLLECTIVE_H_

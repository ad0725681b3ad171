#ifndef RINGSIDE_RING_CODEC_COLLECTIVE_H_
#define RINGSIDE_RING_CODEC_COLLECTIVE_H_

#include <memory>
#include <optional>

#include "common/measure/recorder.h"
#include "common/measure/timeline.h"
#include "common/strategy_options.h"
#include "ring/collective.h"
#include "ring/collective_table.h"

namespace ringside {

/// The collective of `entry`, with sums of gradients that travel as `context.options.codec` says;
/// the plain one for fp32, and in a world of one, where nothing travels and nothing is lost.
/// Broadcasts and gathers are never encoded. All ranks hold the same bits after a sum.
///
/// fp16, bf16 and int8 are decoded, added to and encoded anew on their way (encoded_links.h), where
/// `entry` can. Top-k and sign are gathered and added up in the order of the ranks, PowerSGD sums
/// its factors, on any collective; these three take whole buckets of the space that `Prepare` was
/// called with.
std::unique_ptr<Collective> MakeSum(const CollectiveEntry& entry, const CollectiveContext& context,
                                    Recorder& recorder, Timeline& timeline);

/// Why `MakeSum` of `entry` cannot carry this codec, if it cannot.
std::optional<OptionRefusal> CheckCodecOn(const CollectiveEntry& entry, const CodecOptions& codec);

}  // namespace ringside

#endif  // RINGSIDE_RING_CODEC_COLLECTIVE_H_

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
/// What is summed must be whole buckets of the space that `Prepare` was called with. Three ways:
/// fp16, bf16, int8 go around the ring encoded (encoded_ring.h), which `entry` must be; top-k and
/// sign are gathered and added up in the order of the ranks, on any collective; PowerSGD sums its
/// factors, on any collective.
std::unique_ptr<Collective> MakeSum(const CollectiveEntry& entry, const CollectiveContext& context,
                                    Recorder& recorder, Timeline& timeline);

/// Why a strategy that stands on `MakeSum` cannot run with these options, for
/// `StrategyEntry::check`: of a ring, and of any other collective.
std::optional<OptionRefusal> CheckRingCodec(const StrategyOptions& options, int workers,
                                            int servers);
std::optional<OptionRefusal> CheckGatheringCodec(const StrategyOptions& options, int workers,
                                                 int servers);

}  // namespace ringside

#endif  // RINGSIDE_RING_CODEC_COLLECTIVE_H_

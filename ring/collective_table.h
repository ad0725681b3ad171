#ifndef RINGSIDE_RING_COLLECTIVE_TABLE_H_
#define RINGSIDE_RING_COLLECTIVE_TABLE_H_

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "common/store.h"
#include "common/strategy_entry.h"
#include "common/strategy_options.h"
#include "common/world.h"
#include "ring/encoding_collective.h"

namespace ringside {

/// What a collective may use. Everything borrowed outlives it.
struct CollectiveContext {
  const World& world;
  Store& store;
  const CommOptions& comm;
  const StrategyOptions& options;
  /// Of its keys in the store: new for each collective of a job.
  std::string prefix;
};

/// Makes a collective that sums gradients encoded on their way of one that can.
using EncodeSums = std::function<std::unique_ptr<Collective>(std::unique_ptr<EncodingCollective>)>;

/// One way to sum over all ranks. Strategies stand on it, `ringside bench` times it bare.
struct CollectiveEntry {
  std::string_view name;  ///< Also of the strategy that sums gradients with it.
  /// Collective; may wait for the other workers. Throws `CommError`.
  std::unique_ptr<Collective> (*make)(const CollectiveContext&);
  MemoryKind memory = MemoryKind::kOrdinary;  ///< Of the vectors that it sums best.
  /// `make`, with sums across links that are encoded on their way (`CodecWay::kOnTheWay`). Null:
  /// there is no way.
  std::unique_ptr<Collective> (*make_encoded)(const CollectiveContext&,
                                              const EncodeSums&) = nullptr;
  /// Why that cannot be with such a codec; empty: it can.
  std::string (*why_not_encoded)(const CodecOptions&) = [](const CodecOptions&) {
    return std::string();
  };
};

extern const CollectiveEntry kRingCollective;
extern const CollectiveEntry kHalvingDoublingCollective;
extern const CollectiveEntry kRecursiveDoublingCollective;
extern const CollectiveEntry kTreeCollective;
extern const CollectiveEntry kAutoCollective;
extern const CollectiveEntry kMpiCollective;
extern const CollectiveEntry kNcclCollective;
extern const CollectiveEntry kShmCollective;
extern const CollectiveEntry kHierarchicalCollective;

/// All collectives of this build.
std::span<const CollectiveEntry* const> CollectiveTable();

}  // namespace ringside

#endif  // RINGSIDE_RING_COLLECTIVE_TABLE_H_

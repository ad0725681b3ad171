#include "ring/collective_table.h"

#include <array>

#include "ring/auto_collective.h"
#include "ring/backend_library.h"
#include "ring/gloo_collective.h"

namespace ringside {
namespace {

template <RingAlgorithm algorithm>
std::unique_ptr<Collective> MakeGloo(const CollectiveContext& context) {
  return std::make_unique<GlooCollective>(context.world, context.store, context.comm, algorithm,
                                          context.prefix);
}

template <const BackendLibrary& library>
std::unique_ptr<Collective> MakeFrom(const CollectiveContext& context) {
  return library.Load().make(context);
}

constexpr std::array kTable{
    &kRingCollective,
    &kHalvingDoublingCollective,
    &kRecursiveDoublingCollective,
    &kTreeCollective,
    &kAutoCollective,
    &kMpiCollective,
    &kNcclCollective,
};

}  // namespace

const CollectiveEntry kRingCollective{.name = "ring", .make = MakeGloo<RingAlgorithm::kRing>};
const CollectiveEntry kHalvingDoublingCollective{.name = "halving-doubling",
                                                 .make = MakeGloo<RingAlgorithm::kHalvingDoubling>};
const CollectiveEntry kRecursiveDoublingCollective{
    .name = "recursive-doubling", .make = MakeGloo<RingAlgorithm::kRecursiveDoubling>};
const CollectiveEntry kAutoCollective{
    .name = "auto", .make = [](const CollectiveContext& context) -> std::unique_ptr<Collective> {
      return std::make_unique<AutoCollective>(context);
    }};
const CollectiveEntry kTreeCollective{.name = "tree", .make = MakeGloo<RingAlgorithm::kTree>};

const CollectiveEntry kMpiCollective{.name = "mpi", .make = MakeFrom<kMpiLibrary>};
const CollectiveEntry kNcclCollective{.name = "nccl", .make = MakeFrom<kNcclLibrary>};

std::span<const CollectiveEntry* const> CollectiveTable() { return kTable; }

}  // namespace ringside

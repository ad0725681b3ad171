#include "ring/agreement.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "common/errors.h"

namespace ringside {
namespace {

/// What all ranks must have in common before the first step.
struct Agreement {
  std::uint64_t plan = 0;
  std::int64_t step = 0;
  bool operator==(const Agreement&) const = default;
};

}  // namespace

void CheckAgreement(Collective& collective, const World& world, const BucketPlan& plan,
                    const StartPoint& from) {
  const Agreement mine{plan.Fingerprint(), from.step};
  const auto gathered = collective.AllGather(std::as_bytes(std::span(&mine, 1)));
  std::vector<Agreement> all(static_cast<std::size_t>(world.workers));
  std::memcpy(all.data(), gathered.data(), gathered.size());
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    if (all[rank] == all[0]) continue;
    const bool same_plan = all[rank].plan == all[0].plan;
    throw CommError(fmt::format("worker {}", rank), "the start",
                    same_plan ? fmt::format("it starts at step {}, worker 0 at step {}",
                                            all[rank].step, all[0].step)
                              : "its bucket plan differs from worker 0's: another model or bucket "
                                "size");
  }
}

}  // namespace ringside

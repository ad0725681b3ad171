#ifndef RINGSIDE_PARAMSERVER_WIRE_SERVER_PLAN_H_
#define RINGSIDE_PARAMSERVER_WIRE_SERVER_PLAN_H_

#include <cstdint>
#include <vector>

namespace ringside {

/// What a worker tells a server when it joins.
struct PlanInfo {
  struct ServedSlice {
    std::uint32_t index = 0;
    std::uint64_t elements = 0;
    std::uint32_t bucket = 0;
    bool leads =
        false;  ///< The first slice of its bucket. Its pushes count as those of the bucket.
  };

  std::uint32_t worker = 0;
  std::uint32_t workers = 0;
  std::uint32_t server = 0;
  std::uint32_t servers = 0;
  std::uint64_t fingerprint = 0;         ///< `SlicePlan::Fingerprint` of the whole plan.
  std::int64_t step = 0;                 ///< First step of the job.
  std::vector<ServedSlice> slices = {};  ///< Of this server. Only worker 0 sends them.
};

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_WIRE_SERVER_PLAN_H_

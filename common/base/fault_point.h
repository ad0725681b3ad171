#ifndef RINGSIDE_COMMON_BASE_FAULT_POINT_H_
#define RINGSIDE_COMMON_BASE_FAULT_POINT_H_

#include <cstdint>
#include <span>
#include <string_view>

namespace ringside {

/// A place in the code that a process has reached, and what a test may change there. Members that a
/// place does not name keep their defaults.
struct FaultSite {
  std::string_view point;     ///< Its name; a literal.
  int member = -1;            ///< The rank of a worker or the index of a server, at its start.
  int generation = 0;         ///< At a member's start.
  std::int64_t step = -1;     ///< Of `bench`: the number of the size.
  int bucket = -1;            ///< In the order of the plan.
  std::span<float> values{};  ///< The parameters or gradients of the bucket.
  double* loss = nullptr;     ///< Of the step's samples.
};

/// These are all the points.
namespace fault_points {
inline constexpr std::string_view kWorkerStarts = "worker.starts";
inline constexpr std::string_view kServerStarts = "server.starts";
inline constexpr std::string_view kStepBegins = "step.begins";
inline constexpr std::string_view kStepComputed = "step.computed";    ///< The loss is known.
inline constexpr std::string_view kBucketAwaited = "bucket.awaited";  ///< Parameters are there.
inline constexpr std::string_view kBucketReady = "bucket.ready";      ///< Gradients are there.
inline constexpr std::string_view kBucketSubmitted = "bucket.submitted";
/// A server has applied an update and has answered nobody yet.
inline constexpr std::string_view kShardApplied = "shard.applied";
/// A member has handed in its result and left the job. Step 0.
inline constexpr std::string_view kMemberLeft = "member.left";
}  // namespace fault_points

/// What happens at the points: a function of the program. Called by many threads.
using FaultHook = void (*)(const FaultSite& site);

#ifdef RINGSIDE_FAULT_POINTS

/// Sets the hook of this program; null: nothing happens. Only programs of tests call this:
/// `ringside` does not, whatever its flags and its environment. Call it before any thread starts.
void SetFaultHook(FaultHook hook);
void CallFaultHook(const FaultSite& site);
inline void FaultPoint(const FaultSite& site) { CallFaultHook(site); }

#else

/// Does nothing: this build has no fault points (the CMake option RINGSIDE_FAULT_POINTS).
inline void FaultPoint(const FaultSite& /*site*/) {}

#endif

}  // namespace ringside

#endif  // RINGSIDE_COMMON_BASE_FAULT_POINT_H_

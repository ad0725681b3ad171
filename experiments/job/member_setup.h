#ifndef RINGSIDE_EXPERIMENTS_JOB_MEMBER_SETUP_H_
#define RINGSIDE_EXPERIMENTS_JOB_MEMBER_SETUP_H_

#include <cstdint>
#include <optional>
#include <string>

#include "common/world.h"
#include "experiments/bench_plan.h"
#include "experiments/job/member.h"
#include "experiments/run_spec.h"

namespace ringside {

/// All that a worker or server process is told at its start, through a pipe (it holds the token).
struct MemberSetup {
  Member who;
  World world;              ///< Of a server: rank is without meaning.
  std::string coordinator;  ///< `Coordinator::target()`.
  std::string token;
  std::string address = "127.0.0.1";  ///< Where this process listens and connects.
  std::int64_t parent_pid = 0;
  std::string bundle_dir;  ///< Rank 0 writes checkpoints and parameters there.
  RunSpec spec;
  std::optional<BenchPlan> bench{};  ///< Of a worker that times instead of training.

  std::string ToJson() const;
  /// Throws `ConfigError` naming what is missing.
  static MemberSetup FromJson(const std::string& json);
};

/// Equal for equal specs: what members compare when they join.
std::string SpecHash(const RunSpec& spec);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_MEMBER_SETUP_H_

#ifndef RINGSIDE_EXPERIMENTS_JOB_PROCESSES_MEMBER_SETUP_H_
#define RINGSIDE_EXPERIMENTS_JOB_PROCESSES_MEMBER_SETUP_H_

#include <cstdint>
#include <optional>
#include <string>

#include "ringside/common/core/world.h"
#include "ringside/experiments/job/coordinator/member.h"
#include "ringside/experiments/spec/bench_plan.h"
#include "ringside/experiments/spec/run_spec.h"

namespace ringside {

/// The variable that tells a program of the user's the descriptor of the launcher's message.
inline constexpr const char* kJobFdVariable = "RINGSIDE_JOB_FD";

/// The launcher's message to a new worker or server process, sent by pipe (it holds the token).
struct MemberSetup {
  Member who;
  World world;              ///< A server does not use the rank.
  std::string coordinator;  ///< `Coordinator::target()`.
  std::string token;
  /// Not in the message: `CoordinatorClient::members_token`, once the process has joined.
  std::string members_token;
  std::string address = "127.0.0.1";  ///< Where this process listens and connects.
  std::string tls;                    ///< As in `JobOptions`.
  std::int64_t parent_pid = 0;
  std::string bundle_dir;  ///< Workers write checkpoints there, rank 0 also parameters.
  RunSpec spec;
  int generation = 0;  ///< 0, and one more after each restart of the run.
  /// As `RunSpec::resume`, of this generation.
  std::string resume;
  /// The job goes on without a worker that is lost, if it has begun to train.
  bool drops_lost_workers = false;
  double dilation = 1;  ///< The factor of the run's clock (`DilatedClock`).
  /// Goodput of the slowest link between the hosts of the run, as measured before it begins, in
  /// bytes per second. 0: it was not measured.
  double measured_bytes_per_s = 0;
  std::optional<BenchPlan> bench{};  ///< If set, the worker times instead of training.

  std::string ToJson() const;
  /// Parses the message. Throws `ConfigError` naming the missing part.
  static MemberSetup FromJson(const std::string& json, const Catalog& catalog);
};

/// The key that a worker sets right before its first step, where `drops_lost_workers` is set. All
/// that the start needs from it is done.
std::string TrainsKey(int worker);

/// A fingerprint that is equal for equal specs; compared when members join.
std::string SpecHash(const RunSpec& spec);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_PROCESSES_MEMBER_SETUP_H_

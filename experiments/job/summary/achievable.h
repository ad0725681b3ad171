#ifndef RINGSIDE_EXPERIMENTS_JOB_SUMMARY_ACHIEVABLE_H_
#define RINGSIDE_EXPERIMENTS_JOB_SUMMARY_ACHIEVABLE_H_

#include <optional>
#include <vector>

#include "ringside/experiments/job/summary/step_bound.h"
#include "ringside/experiments/spec/run_spec.h"

namespace ringside {

/// A run's figures for the achievable step. Times in milliseconds; bytes are as encoded.
struct AchievableInput {
  double compute_ms = 0;       ///< Compute as the bound counts it.
  double forward_ms = 0;       ///< Forward pass, a part of it; 0: unknown.
  double gradient_bytes = 0;   ///< Pushed by one worker in a step.
  double parameter_bytes = 0;  ///< Sent back to one worker.
  /// Each bucket's part of the bytes, in the order of the plan, which is the order of sending.
  std::vector<double> bucket_shares;
  /// When each bucket is ready, as a part of the backward pass. Empty: unknown. Then the last one
  /// is ready at the end of the backward pass, and the others at its beginning.
  std::vector<double> ready_shares;
  std::optional<double> busiest_link_bytes{};  ///< In a step, with servers.
  double slice_share = 0;  ///< A slice's part of the bytes; 0: servers get whole buckets.
  /// For how many workers' pushes an answer of a server waits that does not wait for all of them.
  int awaited_pushes = 1;
};

/// The time of a step over ideal links in the order in which the strategy sends. `StepBound` lets
/// any two parts of a step overlap. Here some parts cannot. The parts add up to
/// `step_ms` - `bound_ms`: each is what it adds to the parts above it.
struct Achievable {
  double step_ms = 0;  ///< At least the bound.
  /// Compute that overlaps with nothing. Under `fifo` it is the forward pass, because the forward
  /// pass first reads the bucket that is sent last. Without overlap all compute counts.
  double compute_ms = 0;
  /// Because a phase of a sum waits for the one before it, so that not every link is always busy.
  double phases_ms = 0;
  double uneven_ms = 0;     ///< Because servers own unequal shares.
  double readiness_ms = 0;  ///< Because buckets become ready late in the backward pass.
  /// After the last bucket was sent: the answers of servers.
  double tail_ms = 0;
};

/// Returns the achievable step. Absent without communication over links. Pure.
///
/// For N workers and links of B bytes/s:
///   fifo         T = F + max(backward, max over buckets j of (r_j + R_j / B)) + tail
///   priority     T = max(compute, communication) + tail
///   no overlap   T = compute + communication + tail
/// If workers step alone and sum every H steps, T is the step with the sum, and the mean step takes
/// compute + max(0, T - compute) / H.
/// F is the forward pass, `backward` the rest of the compute. Bucket j is ready r_j after the
/// backward pass began. R_j are the bytes of the busiest link from bucket j on. The tail is
///   N a / B           synchronous servers that get slices; a is the answer to a slice; half of it
///                     if all servers are inside workers, with other answers to send meanwhile.
///                     Workers keep in step. Windows of W bytes let them drift apart by N W / B,
///                     which is not counted
///   N a / B           synchronous servers that get whole buckets, under `fifo`; a are the bytes of
///                     the last bucket's answer; 0 if all servers are inside workers
///   n a / B           the same with servers that wait for the pushes of n < N workers; a is the
///                     answer to the last slice, or to the last bucket where buckets are whole
///   0                 all-reduces. A ring passes a segment on when it has come, and sends another
///                     one meanwhile, so its links need not wait. Packets of a segment are on the
///                     sender's and the receiver's link at once
/// The step is at least F + r_last + the way of the last message, in any order of sending. r_last
/// is when the last bucket is ready. Without overlap the way begins after all compute. It is
///   comm x share      all-reduces; the communication times the last bucket's part of the bytes
///   n (p + a) / B     servers that get whole buckets, or that do not wait for all workers; p are
///                     the bytes of the message with the answer a. n is the number of pushes that
///                     they wait for, one less if all of them are inside workers, and at least 1
///   0                 synchronous servers that get slices
/// With shared hosts, different rates or racks the communication is that of `StepBound::phases_ms`,
/// servers have no tail and no way, and B is the slowest rate. Workers of servers that do not wait
/// for all of them can be at different steps. So their step is the larger of two times: that of the
/// busiest link, and that of one worker alone.
std::optional<Achievable> AchievableOf(const RunSpec& spec, const StepBound& bound,
                                       const AchievableInput& input);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_SUMMARY_ACHIEVABLE_H_

#include "ringside/experiments/job/summary/achievable.h"

#include <algorithm>
#include <cstddef>

#include "ringside/experiments/network/network_plan.h"
#include "ringside/experiments/spec/catalog.h"
#include "ringside/experiments/spec/server_layout.h"
#include "ringside/experiments/spec/transport.h"

namespace ringside {
namespace {

/// Over the slowest link. `link_bits_per_s` is the rate of the fastest one.
double LinkMs(const RunSpec& spec, double bytes) {
  const double rate = spec.network ? spec.network->slowest_bits_per_s() : spec.link_bits_per_s;
  return 1000 * bytes / GoodputBytesPerSecond(rate);
}

bool AllServersAreInsideWorkers(const RunSpec& spec) {
  const ServerLayout layout = LayoutServers(spec);
  return layout.colocated > 0 && layout.dedicated == 0;
}

/// What follows the communication of a step.
struct Tail {
  double after_all_ms = 0;   ///< After the last byte that the links carry without a break.
  double after_last_ms = 0;  ///< After the last bucket became ready: its last message alone.
};

class AchievableMaker {
 public:
  AchievableMaker(const StrategyEntry& entry, const RunSpec& spec, const StepBound& bound,
                  double comm_ms, const AchievableInput& input)
      : spec_(spec),
        input_(input),
        traits_(entry.traits),
        own_links_(bound.own_links),
        steps_per_sum_(static_cast<double>(StepsPerSum(spec))),
        mean_comm_ms_(comm_ms),
        comm_ms_(steps_per_sum_ * comm_ms),
        phases_ms_(steps_per_sum_ * bound.phases_ms),
        backward_ms_(std::max(0.0, input.compute_ms - input.forward_ms)),
        fifo_(spec.options.order == SendOrder::kFifo),
        inside_(AllServersAreInsideWorkers(spec)) {}

  /// Each level adds one cause to those above it, so no part is below 0.
  Achievable Make() const {
    const bool alone = traits_.family == Family::kParameterServer && !traits_.synchronous();
    const double busy_ms = BusyMs();
    const double sent_ms = alone ? PushesMs() : busy_ms;
    double level = std::max(mean_comm_ms_, input_.compute_ms);
    const auto raise = [&](double to_ms) {
      const double added = std::max(0.0, Mean(to_ms) - level);
      level += added;
      return added;
    };
    Achievable result;
    result.compute_ms = raise(SentAllReady(alone ? sent_ms : comm_ms_));
    result.phases_ms = alone ? 0 : raise(SentAllReady(phases_ms_));
    result.uneven_ms = raise(alone ? busy_ms : SentAllReady(busy_ms));
    result.readiness_ms = raise(Sent(sent_ms));
    const Tail tail = TailOf(alone);
    result.tail_ms =
        raise(std::max(Sent(sent_ms) + tail.after_all_ms, LastReady() + tail.after_last_ms));
    result.step_ms = level;
    return result;
  }

 private:
  /// The mean over the steps from one sum to the next, if the step with the sum takes `step_ms`.
  double Mean(double step_ms) const {
    const double compute_ms = input_.compute_ms;
    return compute_ms + std::max(0.0, step_ms - compute_ms) / steps_per_sum_;
  }

  double BusyMs() const {
    if (!input_.busiest_link_bytes || !own_links_) return phases_ms_;
    return std::max(phases_ms_, LinkMs(spec_, *input_.busiest_link_bytes));
  }

  /// The time of a worker's pushes over its own link.
  double PushesMs() const {
    const ServerLayout layout = LayoutServers(spec_);
    const double inside = layout.colocated > 0 ? 1.0 / layout.total() : 0;
    return LinkMs(spec_, (1 - inside) * input_.gradient_bytes);
  }

  /// When all bytes are sent, from the start of the step. Sending them takes `all_ms`.
  double Sent(double all_ms) const {
    if (spec_.overlap && fifo_) return input_.forward_ms + LastSent(all_ms);
    return SentAllReady(all_ms);
  }

  /// The same if every bucket were ready as soon as the link can carry it.
  double SentAllReady(double all_ms) const {
    if (!spec_.overlap) return input_.compute_ms + all_ms;
    if (!fifo_) return std::max(input_.compute_ms, all_ms);
    return input_.forward_ms + std::max(backward_ms_, all_ms);
  }

  /// max over j of r_j + R_j / B, from the start of the backward pass.
  double LastSent(double all_ms) const {
    double rest = 0;
    double latest_ms = std::max(backward_ms_, all_ms);
    for (std::size_t j = input_.bucket_shares.size(); j-- > 0;) {
      rest += input_.bucket_shares[j];
      latest_ms = std::max(latest_ms, ReadyShare(j) * backward_ms_ + rest * all_ms);
    }
    return latest_ms;
  }

  double ReadyShare(std::size_t bucket) const {
    const std::size_t buckets = input_.bucket_shares.size();
    if (input_.ready_shares.size() == buckets) return input_.ready_shares[bucket];
    return bucket + 1 == buckets ? 1 : 0;
  }

  /// When the last bucket may be sent, from the start of the step.
  double LastReady() const {
    if (!spec_.overlap || input_.bucket_shares.empty()) return input_.compute_ms;
    return input_.forward_ms + ReadyShare(input_.bucket_shares.size() - 1) * backward_ms_;
  }

  double LastBucketShare() const {
    return input_.bucket_shares.empty() ? 0 : input_.bucket_shares.back();
  }

  Tail TailOf(bool alone) const {
    if (traits_.family != Family::kParameterServer) return AllReduceTail();
    if (!input_.busiest_link_bytes || !own_links_) return {};
    if (input_.slice_share > 0 && !alone) return SlicesTail();
    return LastMessageTail(alone);
  }

  Tail AllReduceTail() const { return {.after_last_ms = phases_ms_ * LastBucketShare()}; }

  /// Under `priority` the next forward pass waits for the whole bucket that became ready last.
  Tail SlicesTail() const {
    const double slices_ms = SlicesMs();
    return {.after_all_ms = slices_ms,
            .after_last_ms = fifo_ ? 0 : LastBucketShare() * BusyMs() + slices_ms};
  }

  /// N a / B for answers of a bytes to the last slice.
  double SlicesMs() const {
    const double all_ms =
        LinkMs(spec_, spec_.workers * input_.slice_share * input_.parameter_bytes);
    return inside_ ? all_ms / 2 : all_ms;
  }

  /// The last message goes from all workers that are waited for to its server and back, over the
  /// server's link. A server inside a worker has other answers to send meanwhile, and its worker's
  /// own message stays there.
  Tail LastMessageTail(bool alone) const {
    const int awaited = alone ? input_.awaited_pushes : spec_.workers;
    const double workers = std::max(1, awaited - (inside_ ? 1 : 0));
    const double share = input_.slice_share > 0 ? input_.slice_share : LastBucketShare();
    const double there_ms = LinkMs(spec_, workers * share * input_.gradient_bytes);
    const double back_ms = LinkMs(spec_, workers * share * input_.parameter_bytes);
    return {.after_all_ms = fifo_ && !inside_ ? back_ms : 0, .after_last_ms = there_ms + back_ms};
  }

  const RunSpec& spec_;
  const AchievableInput& input_;
  const StrategyTraits& traits_;
  const bool own_links_;
  const double steps_per_sum_;
  const double mean_comm_ms_;  // of a step
  const double comm_ms_;       // of a sum
  const double phases_ms_;
  const double backward_ms_;
  const bool fifo_;
  const bool inside_;  // all servers are inside workers
};

}  // namespace

std::optional<Achievable> AchievableOf(const RunSpec& spec, const StepBound& bound,
                                       const AchievableInput& input) {
  const StrategyEntry* entry = spec.catalog().FindStrategy(spec.strategy);
  if (entry == nullptr || !bound.comm_ms || *bound.comm_ms <= 0) return std::nullopt;
  return AchievableMaker(*entry, spec, bound, *bound.comm_ms, input).Make();
}

}  // namespace ringside

#ifndef RINGSIDE_RING_STRATEGIES_PERIODIC_RULE_H_
#define RINGSIDE_RING_STRATEGIES_PERIODIC_RULE_H_

#include <cstdint>
#include <span>
#include <vector>

#include "ringside/ring/strategies/update_rule.h"

namespace ringside {

inline constexpr IntegerOption kSyncEvery{
    .name = "sync-every",
    .placeholder = "H",
    .help = "local-sgd, diloco: steps between two averages of the parameters",
    .default_value = 10,
    .least = 1,
    .hint = "1 averages after every step"};

/// Each worker steps alone, with its own optimizer on its own batches. The workers synchronise
/// every H steps (`kSyncEvery`): after the steps H, 2H, ... of the job, whatever happens between
/// them. The derived class decides what a synchronisation does.
///
/// At a pause between two synchronisations, the parameters become their average over the workers,
/// and training continues from there. So a pause that is not at a multiple of H adds an average.
class PeriodicRule : public UpdateRule {
 public:
  explicit PeriodicRule(const StrategyContext& context)
      : context_(context),
        workers_(context.world.workers),
        sync_every_(context.options.Get(kSyncEvery)) {}

  FlatVector Contribute(const Bucket& bucket, UpdateTrigger trigger) final;
  void Apply(const Bucket& bucket, UpdateTrigger trigger) final;
  bool acts_at_pauses() const final { return true; }
  /// The state of this worker's optimizer, which differs from that of the others.
  std::vector<StateVector> State() override;

 protected:
  /// Called after H local steps. Returns which vector of the bucket is to be summed over the
  /// workers.
  virtual FlatVector BeginSync(const Bucket& bucket) = 0;
  /// Called when the vector that `BeginSync` returned holds the sum.
  virtual void EndSync(const Bucket& bucket) = 0;

  /// Turns a sum over the workers into the mean.
  void Average(std::span<float> sum) const;

 private:
  bool SyncsAfter(std::int64_t step) const { return (step + 1) % sync_every_ == 0; }
  void LocalStep(const Bucket& bucket);

  StrategyContext context_;
  int workers_;
  std::int64_t sync_every_;
};

}  // namespace ringside

#endif  // RINGSIDE_RING_STRATEGIES_PERIODIC_RULE_H_

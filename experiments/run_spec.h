#ifndef RINGSIDE_EXPERIMENTS_RUN_SPEC_H_
#define RINGSIDE_EXPERIMENTS_RUN_SPEC_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/errors.h"
#include "common/measure/timeline.h"
#include "common/optim/optimizer.h"
#include "common/optim/schedule.h"
#include "common/straggler.h"
#include "common/strategy_options.h"
#include "experiments/lab/network_spec.h"

namespace ringside {

/// Of one run: what is longer was not meant.
inline constexpr std::int64_t kMaxSteps = 1'000'000'000;

/// A value of a spec that cannot be. Names the key as flags spell it ("global-batch"), so that the
/// command line can point at the flag and a matrix at the line. Where several values do not fit
/// together, it names the others too: the first may be a default that nobody set.
class SpecKeyError : public ConfigError {
 public:
  SpecKeyError(const std::string& key, const std::string& reason,
               std::initializer_list<std::string_view> others = {})
      : ConfigError(key + ": " + reason), keys_{key}, reason_(reason) {
    keys_.insert(keys_.end(), others.begin(), others.end());
  }
  const std::string& key() const { return keys_.front(); }
  /// `key()`, then the others.
  const std::vector<std::string>& keys() const { return keys_; }
  const std::string& reason() const { return reason_; }

 private:
  std::vector<std::string> keys_;
  std::string reason_;
};

/// What the value of a key asks for and this build or machine lacks (exit code 4).
class MissingKeyError : public MissingBackendError {
 public:
  MissingKeyError(std::string key, const std::string& message)
      : MissingBackendError(message), key_(std::move(key)) {}
  const std::string& key() const { return key_; }

 private:
  std::string key_;
};

/// Everything that decides what one run computes, and how it is observed: the resolved spec of a
/// bundle. Flags, the environment and spec files all end in one of these; workers and servers read
/// it back as JSON.
struct RunSpec {
  std::string strategy = "ring";
  int workers = 2;
  int hosts = 0;                       ///< > 0: emulated ones, that workers are dealt to in blocks.
  std::optional<NetworkSpec> network;  ///< The hosts are namespaces, with links as it says.
  /// 0: one dedicated server where the strategy has servers, none where they are spare ones.
  int servers = 0;
  bool servers_as_workers = false;  ///< As many dedicated ones as workers; resolving counts them.
  bool colocated = false;   ///< `servers` of the workers carry one; 0 then means all of them.
  StrategyOptions options;  ///< Of the strategy.

  std::string model = "mlp";
  std::vector<int> widths;     ///< mlp: hidden widths.
  double compute_ms = 0;       ///< profile models.
  StragglerOptions straggler;  ///< Workers that are slowed on purpose.
  std::string data;  ///< Empty: digits, or none where the model brings no samples (profile:NAME).
  std::string data_dir;

  std::int64_t epochs = 1;
  std::int64_t steps = 0;  ///< > 0 overrides epochs.
  std::int64_t global_batch =
      0;  ///< > 0: strong scaling; exactly one of the two is set after resolving.
  std::int64_t batch_per_worker = 0;  ///< > 0: weak scaling.

  OptimizerOptions optimizer;
  std::string schedule = "constant";  ///< constant, step, cosine
  double learning_rate = 0.1;
  bool scale_lr_with_workers = false;
  std::int64_t lr_warmup_steps = 0;
  std::int64_t lr_step_every = 0;
  double lr_gamma = 0.1;

  std::uint64_t seed = 1;
  int repetition = 0;
  std::int64_t bucket_bytes = 4 << 20;
  bool overlap = true;  ///< Communicate during the backward pass.
  int threads = 1;
  std::int64_t eval_every = 0;        ///< In steps; 0: at the end.
  std::int64_t checkpoint_every = 0;  ///< In steps; 0: never.
  std::string resume;                 ///< A checkpoint file; empty: start afresh.
  bool timeline = false;
  TimelineSteps timeline_steps;   ///< Which steps it shows.
  std::string timeline_filename;  ///< Empty: trace.json in the bundle.
  bool save_params = false;       ///< Rank 0 writes its final parameters to params.bin.
  std::int64_t warmup_steps = 3;  ///< Left out of the step time statistics.

  double link_bits_per_s =
      0;  ///< Declared rate of every host's link, for the bound; 0: none declared.
  double link_latency_s = 0;
  double timeout_s = 30;  ///< Of one operation.

  /// Strong: global_batch; weak: batch_per_worker x workers.
  std::int64_t ResolvedGlobalBatch() const;
};

void to_json(nlohmann::json& json, const RunSpec& spec);
/// Absent keys keep their values. Throws `SpecKeyError` on an unknown key or a value of the wrong
/// type.
void from_json(const nlohmann::json& json, RunSpec& spec);

/// Refuses what cannot run before anything starts: unknown names (with "did you mean"), zero
/// workers, more servers than make sense, a global batch smaller than the workers, a strategy whose
/// backend is missing. Fills in what was left open (servers, batch, data). Throws `SpecKeyError` or
/// `MissingBackendError`.
RunSpec Resolve(RunSpec spec);

/// Throws `SpecKeyError` where a step would take more samples than a training split has: it would
/// take fewer than the spec says. `Resolve` does so for data whose size is known before files are
/// read.
void RefuseLargeBatch(const RunSpec& spec, std::size_t train_samples);

/// The part of `Resolve` that is about the strategy, its processes and its options: for what trains
/// no model.
RunSpec ResolveStrategy(RunSpec spec);

/// First 16 hex digits of a SHA-256 over the resolved spec, seed and repetition: equal runs have
/// equal ids.
std::string RunId(const RunSpec& spec);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_RUN_SPEC_H_

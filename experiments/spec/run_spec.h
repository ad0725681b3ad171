#ifndef RINGSIDE_EXPERIMENTS_SPEC_RUN_SPEC_H_
#define RINGSIDE_EXPERIMENTS_SPEC_RUN_SPEC_H_

#include <cstdint>
#include <initializer_list>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ringside/common/base/errors.h"
#include "ringside/common/measure/timeline.h"
#include "ringside/common/optim/optimizer.h"
#include "ringside/common/optim/schedule.h"
#include "ringside/common/strategy/strategy_options.h"
#include "ringside/common/training/straggler.h"
#include "ringside/experiments/network/dilation.h"
#include "ringside/experiments/network/network_spec.h"

namespace ringside {

/// The most steps of one run. A spec with more steps is refused, because it must be a mistake.
inline constexpr std::int64_t kMaxSteps = 1'000'000'000;

/// An invalid value in a spec. Names the key as flags spell it ("global-batch"), so that the
/// command line can point at the flag and a matrix at the line. When several values do not fit
/// together, it names all their keys: the first may have a default value that nobody set.
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

/// The value of a key needs something that this build or machine lacks (exit code 4).
class MissingKeyError : public MissingBackendError {
 public:
  MissingKeyError(std::string key, const std::string& message)
      : MissingBackendError(message), key_(std::move(key)) {}
  const std::string& key() const { return key_; }

 private:
  std::string key_;
};

class Catalog;

/// Everything that decides what one run computes and how it is observed. Flags, the environment and
/// spec files all become a `RunSpec`. A bundle keeps the resolved spec; workers and servers read it
/// as JSON. It belongs to a catalog, which defines its names and keys. The catalog must live
/// longer.
struct RunSpec {
  /// Makes a spec without a catalog. It has no keys until a spec with a catalog is assigned to it.
  RunSpec() = default;
  explicit RunSpec(const Catalog& catalog) : catalog_(&catalog) {}

  /// Throws `InternalError` when the spec has no catalog.
  const Catalog& catalog() const;

  std::string strategy = "ring";
  int workers = 2;
  int hosts = 0;                       ///< > 0: emulated hosts; each gets a block of workers.
  std::optional<NetworkSpec> network;  ///< The hosts are namespaces with these links.
  Dilation dilation;                   ///< How much slower than the machine's its clock is.
  /// 0: one dedicated server if the strategy has servers, none where every worker holds one.
  int servers = 0;
  bool servers_as_workers = false;  ///< One dedicated server per worker; resolving counts them.
  bool colocated = false;   ///< `servers` is the number of workers that hold a server; 0: all.
  StrategyOptions options;  ///< Options of the strategy.

  std::string model = "mlp";
  /// The words of a command that every worker runs as its model, through `import ringside`; empty:
  /// none. Resolving then sets `model` to `kProgramModel`.
  std::vector<std::string> program;
  std::string loss;            ///< Of models that take one; empty: by the dataset.
  std::vector<int> widths;     ///< Hidden widths of mlp.
  double compute_ms = 0;       ///< For profile models.
  StragglerOptions straggler;  ///< Workers that are made slow on purpose.
  std::string data;  ///< Empty: digits, or none where the model brings no samples (profile:NAME).
  std::string data_dir;

  std::int64_t epochs = 1;
  std::int64_t steps = 0;  ///< > 0 overrides epochs.
  std::int64_t global_batch =
      0;  ///< > 0: strong scaling. Resolving leaves exactly one of the two batches set.
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
  std::int64_t keep_checkpoints = 2;  ///< The newest ones; 0: all.
  std::int64_t check_replicas = 0;    ///< In steps; 0: never.
  /// A checkpoint file, or a folder with checkpoints or with a folder of them, of which the newest
  /// whole one counts. Empty: start at step 0.
  std::string resume;
  bool timeline = false;
  TimelineSteps timeline_steps;   ///< The steps in the timeline.
  std::string timeline_filename;  ///< Empty: trace.json in the bundle.
  bool save_params = false;       ///< Rank 0 writes its final parameters to params.bin.
  std::int64_t warmup_steps = 3;  ///< Steps left out of the step time statistics.

  double link_bits_per_s =
      0;  ///< Declared rate of every host's link, for the communication bound; 0: none.
  double link_latency_s = 0;
  double timeout_s = 30;  ///< Limit for one operation.

  /// `global_batch` (strong scaling) or `batch_per_worker` x `workers` (weak scaling). In a spec
  /// that is not resolved the product may not fit; then this is the largest number.
  std::int64_t ResolvedGlobalBatch() const;

 private:
  const Catalog* catalog_ = nullptr;
};

/// Whether only the program that is the run's model knows how many steps there are.
inline bool EndsWithItsProgram(const RunSpec& spec) {
  return !spec.program.empty() && spec.steps == 0;
}

/// Whether all workers do the same steps: one that ends before the others makes them wait for ever.
bool StepsTogether(const RunSpec& spec);

void to_json(nlohmann::json& json, const RunSpec& spec);
/// Reads into a spec with a catalog. Absent keys keep their values. Throws `SpecKeyError` on an
/// unknown key or a value of the wrong type.
void from_json(const nlohmann::json& json, RunSpec& spec);
RunSpec ReadRunSpec(const nlohmann::json& json, const Catalog& catalog);

/// The first 16 hex digits of a SHA-256 over the resolved spec with its seed and repetition. Equal
/// runs have equal ids.
std::string RunId(const RunSpec& spec);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SPEC_RUN_SPEC_H_

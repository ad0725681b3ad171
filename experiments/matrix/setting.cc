#include "ringside/experiments/matrix/setting.h"

#include <algorithm>
#include <string_view>

#include "ringside/experiments/spec/run_spec.h"

namespace ringside {

void Apply(RunSpec& spec, const std::vector<Setting>& settings) {
  const auto names = [&](std::string_view name) {
    return std::ranges::any_of(settings, [&](const Setting& s) { return s.key->name == name; });
  };
  const bool global = names("global-batch");
  const bool per_worker = names("batch-per-worker");
  if (global && !per_worker) spec.batch_per_worker = 0;
  if (per_worker && !global) spec.global_batch = 0;
  for (const Setting& setting : settings) SetSpecKey(spec, *setting.key, setting.value);
}

}  // namespace ringside

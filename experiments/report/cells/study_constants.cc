#include "ringside/experiments/report/cells/study_constants.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "ringside/experiments/report/cells/condition_text.h"
#include "ringside/experiments/spec/catalog.h"

namespace ringside {
namespace {

constexpr std::array<std::string_view, 13> kKeys{
    "workers",        "model",        "program",          "data",  "compute_ms", "network",
    "straggler",      "global_batch", "batch_per_worker", "steps", "epochs",     "codec",
    "link_bits_per_s"};

// False for a key that another one replaces, for what is off, and for what a program decides.
bool Applies(std::string_view name, const RunSpec& spec) {
  if (name == "model") return spec.program.empty();
  if (name == "program") return !spec.program.empty();
  if (name == "data") return !spec.data.empty() && spec.data != "none";
  if (name == "compute_ms") return spec.compute_ms > 0;
  if (name == "network") return spec.network.has_value();
  if (name == "link_bits_per_s") return !spec.network && spec.link_bits_per_s > 0;
  if (name == "straggler") return spec.straggler.kind != StragglerOptions::Kind::kNone;
  if (name == "global_batch")
    return spec.program.empty() && spec.batch_per_worker == 0 && spec.global_batch > 0;
  if (name == "batch_per_worker") return spec.program.empty() && spec.batch_per_worker > 0;
  if (name == "steps") return spec.steps > 0;
  if (name == "epochs") return spec.program.empty() && spec.steps == 0;
  return true;
}

bool IsShared(const SpecKey& key, const std::vector<RunResult>& runs) {
  const RunSpec& first = runs.front().spec;
  return std::ranges::all_of(
      runs, [&](const RunResult& run) { return key.get(run.spec) == key.get(first); });
}

bool IsDefaultCodec(const SpecKey& key, const RunSpec& spec) {
  return key.json_name == "codec" && key.get(spec) == key.get(RunSpec(spec.catalog()));
}

std::string Words(const SpecKey& key, const RunSpec& spec) {
  if (key.json_name != "workers") return ConditionText(key, spec);
  return fmt::format("{} worker{}", spec.workers, spec.workers == 1 ? "" : "s");
}

}  // namespace

std::vector<std::string> ConstantsOf(const std::vector<RunResult>& runs) {
  std::vector<std::string> constants;
  if (runs.empty()) return constants;
  const RunSpec& spec = runs.front().spec;
  for (const std::string_view name : kKeys) {
    const SpecKey* key = spec.catalog().FindKey(name);
    if (key == nullptr || !Applies(name, spec) || IsDefaultCodec(*key, spec)) continue;
    if (IsShared(*key, runs)) constants.push_back(Words(*key, spec));
  }
  return constants;
}

std::string ConstantsText(const std::vector<std::string>& constants) {
  if (constants.empty()) return "";
  return fmt::format("All runs: {}.", fmt::join(constants, ", "));
}

}  // namespace ringside

#include "ringside/experiments/spec/resolve/resolve_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "ringside/experiments/spec/resolve/idle_servers.h"
#include "ringside/experiments/spec/resolve/refusals.h"
#include "ringside/experiments/system/environment/build_info.h"
#include "ringside/experiments/system/files/find_program.h"

namespace ringside {
namespace {

// A program tells the size of its batches step by step.
constexpr std::int64_t kProgramBatch = 1;

/// The dataset of a spec that names none: the first with samples, or the first without.
const DatasetEntry& DefaultDataset(const RunSpec& spec, bool has_samples) {
  const auto datasets = spec.catalog().datasets();
  return *std::ranges::find(datasets, has_samples, &DatasetEntry::has_samples);
}

// A program decides what every model's keys decide elsewhere.
void RefuseModelKeys(const RunSpec& spec) {
  const RunSpec defaults(spec.catalog());
  const auto refuse = [&](std::initializer_list<std::string_view> keys, std::string_view what) {
    for (const std::string_view key : keys) {
      const SpecKey& entry = *spec.catalog().FindKey(key);
      RefuseTogether(entry.get(spec) != entry.get(defaults), key, {"program"},
                     "the program decides {}; omit {}", what, key);
    }
  };
  RefuseTogether(spec.batch_per_worker > kProgramBatch, "batch-per-worker", {"program"},
                 "the program decides its batches; omit batch-per-worker");
  refuse({"global-batch"}, "its batches");
  refuse({"epochs"}, "its epochs");
  refuse({"optimizer", "momentum", "nesterov", "weight-decay", "beta1", "beta2", "epsilon"},
         "its optimizer");
  refuse({"lr", "scale-lr", "schedule-lr", "lr-warmup-steps", "lr-step-every", "lr-gamma"},
         "its learning rate");
  refuse({"eval-every"}, "when it evaluates");
  refuse({"checkpoint-every", "keep", "resume"}, "its checkpoints");
}

void CheckLoss(const RunSpec& spec, const ModelEntry& model) {
  if (spec.loss.empty()) return;
  Refuse(!model.traits.takes_loss, "loss", "model '{}' has its own; {}", spec.model,
         OfModels(spec, &ModelTraits::takes_loss, "takes a loss", "take a loss"));
  const std::vector<std::string_view> names{"cross-entropy", "mse", "mae"};
  if (std::ranges::find(names, spec.loss) == names.end()) {
    RefuseUnknown("loss", "loss", spec.loss, names);
  }
}

void RequireFile(const std::string& name, const std::string& entry_name, std::string_view key) {
  const std::string path = FileOf(name, entry_name);
  std::error_code unreadable;  // is no file then
  Refuse(!std::filesystem::is_regular_file(path, unreadable), key, "there is no file '{}'", path);
}

}  // namespace

void ResolveProgram(RunSpec& spec) {
  if (spec.program.empty()) {
    RefuseTogether(spec.model == kProgramModel, "model", {"program"},
                   "give the program: ringside train ... -- python3 train.py");
    return;
  }
  Refuse(spec.program.front().empty(), "program", "its first word is empty");
  RefuseTogether(spec.model != RunSpec().model && spec.model != kProgramModel, "model", {"program"},
                 "the program is the model; omit model");
  RefuseModelKeys(spec);
  spec.model = kProgramModel;
  spec.batch_per_worker = kProgramBatch;
}

void ResolveModel(const RunSpec& spec, const ModelEntry& model) {
  Refuse(!(spec.compute_ms >= 0), "compute-ms", "the compute time cannot be {} ms",
         spec.compute_ms);
  Refuse(spec.compute_ms > 0 && !model.traits.emulates_compute, "compute-ms",
         "model '{}' really computes; {}", spec.model,
         OfModels(spec, &ModelTraits::emulates_compute, "takes an emulated compute time",
                  "take an emulated compute time"));
  Refuse(!spec.widths.empty() && !model.traits.takes_widths, "hidden", "{}, not {}",
         OfModels(spec, &ModelTraits::takes_widths, "has hidden widths", "have hidden widths"),
         spec.model);
  CheckLoss(spec, model);
  for (const int width : spec.widths) {
    Refuse(width < 1, "hidden", "a layer cannot have {} units; give widths of at least 1", width);
  }
}

void ResolveData(RunSpec& spec, const ModelEntry& model) {
  const bool reads = model.traits.reads_samples;
  if (spec.data.empty()) spec.data = DefaultDataset(spec, reads).name;
  const DatasetEntry& data = DatasetOf(spec);
  Refuse(!reads && data.has_samples, "data", "{} reads no samples; omit data or give '{}'",
         spec.model, DefaultDataset(spec, false).name);
  Refuse(reads && !data.has_samples, "data", "model '{}' needs samples; try {}", model.name,
         DefaultDataset(spec, true).name);
  if (!data.needs_directory) {
    spec.data_dir.clear();
    return;
  }
  RefuseTogether(spec.data_dir.empty(), "data-dir", {"data"},
                 "dataset '{}' is read from files; name their directory", spec.data);
}

void RequireFiles(const RunSpec& spec) {
  const ModelEntry& model = ModelOf(spec);
  const DatasetEntry& data = DatasetOf(spec);
  if (!spec.program.empty()) {
    const std::string& command = spec.program.front();
    Refuse(PathOfCommand(command).empty(), "program", "{}", WhyNoCommand(command));
  }
  if (model.traits.takes_file) RequireFile(spec.model, model.name, "model");
  if (data.takes_file) RequireFile(spec.data, data.name, "data");
  if (!data.needs_directory) return;
  std::error_code unreadable;  // is no directory then
  Refuse(!std::filesystem::is_directory(spec.data_dir, unreadable), "data-dir",
         "'{}' is not a directory", spec.data_dir);
}

void RefuseIdleServers(const RunSpec& spec, const ModelEntry& model) {
  const DatasetEntry& data = DatasetOf(spec);
  // Otherwise the workers find out.
  if (spec.servers == 0 || !model.traits.tensors_known || data.takes_file) return;
  const int idle = IdleServers(
      spec, model.tensors({.input = data.shape, .classes = data.classes, .widths = spec.widths}));
  Refuse(idle > 0, "servers",
         "{} servers for {} buckets, or slices of them, would leave {} idle; take fewer servers or "
         "smaller buckets (bucket-mb)",
         spec.servers, spec.servers - idle, idle);
}

void CheckDilationOf(const RunSpec& spec, const ModelEntry& model) {
  RefuseTogether(spec.dilation.wanted() && !model.traits.emulates_compute, "dilation", {"model"},
                 "model '{}' really computes, and its compute cannot be slowed down; {}",
                 spec.model,
                 OfModels(spec, &ModelTraits::emulates_compute, "emulates its compute",
                          "emulate their compute"));
}

void RequireModel(const RunSpec& spec, const ModelEntry& model) {
  if (model.make != nullptr || model.traits.is_program) return;
  if (spec.catalog().has_extensions()) {
    throw MissingKeyError(
        "model", fmt::format("model '{}' needs libtorch, which this program does not link: link "
                             "ringside::torch_models and add TorchModels() to its extensions",
                             spec.model));
  }
  if (ThisBuild().libtorch.empty()) {
    throw MissingKeyError(
        "model",
        fmt::format("model '{}' needs libtorch, which this build lacks: install libtorch-dev and "
                    "build with RINGSIDE_TORCH=ON, or take a model that needs none "
                    "(ringside list models)",
                    spec.model));
  }
}

}  // namespace ringside

#include "ringside/experiments/checkpoint/checkpoint.h"

#include <fmt/format.h>

#include <charconv>
#include <utility>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/checkpoint/checkpoint_folder.h"

namespace ringside {
namespace {

constexpr const char* kFormat = "ringside.checkpoint/1";
constexpr const char* kPartFormat = "ringside.checkpoint-worker/1";

constexpr const char* kParameters = "parameters";
constexpr const char* kOptimizer = "optimizer";
constexpr const char* kBuffers = "buffers";
constexpr std::string_view kState = "state-";  // a section for each vector, so each can be missing

constexpr int kMaxWorkers = 1 << 16;

TensorFileMetadata MetadataOf(const char* format, const CheckpointInfo& info) {
  return {{"format", format},
          {"step", std::to_string(info.steps_done)},
          {"epoch", std::to_string(info.epoch)},
          {"step_of_epoch", std::to_string(info.step_of_epoch)},
          {"seed", std::to_string(info.seed)},
          {"global_batch", std::to_string(info.global_batch)},
          {"model", info.model},
          {"data", info.data},
          {"samples", std::to_string(info.samples)},
          {"optimizer", info.optimizer},
          {"strategy", info.strategy},
          {"codec", info.codec},
          {"workers", std::to_string(info.workers)}};
}

/// Reads the metadata of one file.
class MetadataReader {
 public:
  explicit MetadataReader(const TensorFileReader& file) : file_(file) {}

  const std::string& Text(const std::string& key) const {
    const auto found = file_.metadata().find(key);
    if (found == file_.metadata().end()) Refuse(fmt::format("has no '{}'", key));
    return found->second;
  }
  template <typename Number>
  Number Whole(const std::string& key, Number least) const {
    const std::string& text = Text(key);
    Number number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size() || number < least) {
      Refuse(fmt::format("has '{}' for '{}', not a whole number of {} or more", text, key, least));
    }
    return number;
  }
  [[noreturn]] void Refuse(const std::string& reason) const {
    throw DataError(file_.path(), "is not a checkpoint: it " + reason);
  }

 private:
  const TensorFileReader& file_;
};

CheckpointInfo InfoOf(const TensorFileReader& file, const char* format) {
  const MetadataReader read(file);
  if (read.Text("format") != format) {
    read.Refuse(fmt::format("is of the format '{}', not '{}'", read.Text("format"), format));
  }
  CheckpointInfo info;
  info.steps_done = read.Whole<std::int64_t>("step", 0);
  info.epoch = read.Whole<std::int64_t>("epoch", 0);
  info.step_of_epoch = read.Whole<std::int64_t>("step_of_epoch", 0);
  info.seed = read.Whole<std::uint64_t>("seed", 0);
  info.global_batch = read.Whole<std::int64_t>("global_batch", 1);
  info.model = read.Text("model");
  info.data = read.Text("data");
  info.samples = read.Whole<std::int64_t>("samples", 0);
  info.optimizer = read.Text("optimizer");
  info.strategy = read.Text("strategy");
  info.codec = read.Text("codec");
  info.workers = read.Whole<int>("workers", 1);
  if (info.workers > kMaxWorkers) read.Refuse("has more workers than a job can have");
  return info;
}

std::vector<NamedShape> ShapesOf(std::span<const TensorSpec> tensors) {
  std::vector<NamedShape> shapes;
  for (const TensorSpec& tensor : tensors) {
    shapes.push_back({tensor.name, tensor.shape.empty()
                                       ? std::vector{static_cast<std::int64_t>(tensor.elements)}
                                       : tensor.shape});
  }
  return shapes;
}

std::vector<NamedShape> Vector(const std::string& name, std::size_t values) {
  return {{name, {static_cast<std::int64_t>(values)}}};
}

/// The vectors of an optimizer's state, by the names that torch.optim gives them.
std::vector<NamedShape> OptimizerVectors(std::size_t values, std::size_t parameters) {
  if (values == 0) return {};
  if (values == parameters) return Vector("momentum_buffer", parameters);
  std::vector<NamedShape> vectors = Vector("exp_avg", parameters);
  vectors.push_back({"exp_avg_sq", vectors.front().shape});
  return vectors;
}

std::vector<TensorSection> SectionsOf(std::span<const StateVector> state) {
  std::vector<TensorSection> sections;
  for (const StateVector& vector : state) {
    sections.push_back({.name = std::string(kState) + vector.name,
                        .tensors = Vector("values", vector.values.size()),
                        .values = vector.values});
  }
  return sections;
}

SavedState StateOf(const TensorFileReader& file) {
  SavedState state;
  for (const TensorFileReader::Section& section : file.sections()) {
    if (!section.name.starts_with(kState)) continue;
    state[section.name.substr(kState.size())] = file.Read(section);
  }
  return state;
}

std::vector<float> ValuesOf(const TensorFileReader& file, const char* name) {
  const TensorFileReader::Section* section = file.Find(name);
  return section == nullptr ? std::vector<float>() : file.Read(*section);
}

std::uint64_t CountOf(const TensorFileReader& file, const char* name) {
  const TensorFileReader::Section* section = file.Find(name);
  return section == nullptr ? 0 : section->values;
}

std::string PartKey(int worker) { return fmt::format("worker/{}", worker); }

std::string TextOf(const NamedShape& tensor) {
  return fmt::format("{} [{}]", tensor.name, fmt::join(tensor.shape, ", "));
}

}  // namespace

std::string WriteWorkerPart(const std::string& path, const CheckpointInfo& info, int worker,
                            std::span<const StateVector> state) {
  TensorFileMetadata metadata = MetadataOf(kPartFormat, info);
  metadata["worker"] = std::to_string(worker);
  return WriteTensorFile(path, metadata, SectionsOf(state));
}

void WriteCheckpoint(const std::string& path, const CheckpointInfo& info,
                     const CheckpointView& view) {
  TensorFileMetadata metadata = MetadataOf(kFormat, info);
  for (std::size_t worker = 0; worker < view.worker_parts.size(); ++worker) {
    if (view.worker_parts[worker].empty()) continue;
    metadata[PartKey(static_cast<int>(worker))] = view.worker_parts[worker];
  }
  std::vector<TensorSection> sections{
      {.name = kParameters, .tensors = ShapesOf(view.tensors), .values = view.params},
      {.name = kOptimizer,
       .tensors = OptimizerVectors(view.optimizer_state.size(), view.params.size()),
       .values = view.optimizer_state}};
  if (!view.buffers.empty()) {
    sections.push_back(
        {.name = kBuffers, .tensors = Vector("all", view.buffers.size()), .values = view.buffers});
  }
  for (TensorSection& section : SectionsOf(view.state)) sections.push_back(std::move(section));
  WriteTensorFile(path, metadata, sections);
}

CheckpointFile::CheckpointFile(const std::string& path)
    : file_(path), info_(InfoOf(file_, kFormat)) {
  worker_parts_.resize(static_cast<std::size_t>(info_.workers));
  for (int worker = 0; worker < info_.workers; ++worker) {
    const auto found = file_.metadata().find(PartKey(worker));
    if (found != file_.metadata().end()) {
      worker_parts_[static_cast<std::size_t>(worker)] = found->second;
    }
  }
}

void CheckpointFile::CheckFits(std::span<const TensorSpec> tensors, std::size_t buffers,
                               const std::string& optimizer, std::size_t optimizer_state) const {
  const auto refuse_if = [&](bool wrong, const std::string& reason) {
    if (wrong) throw ConfigError(fmt::format("cannot resume from {}: {}", path(), reason));
  };
  const std::vector<NamedShape> wanted = ShapesOf(tensors);
  std::span<const NamedShape> found;
  if (const auto* section = file_.Find(kParameters)) found = section->tensors;
  refuse_if(found.size() != wanted.size(),
            fmt::format("it holds {} tensors of '{}', the model has {}", found.size(), info_.model,
                        wanted.size()));
  for (std::size_t tensor = 0; tensor < wanted.size(); ++tensor) {
    refuse_if(found[tensor] != wanted[tensor],
              fmt::format("it holds tensor {} of '{}', the model has {}", TextOf(found[tensor]),
                          info_.model, TextOf(wanted[tensor])));
  }
  refuse_if(CountOf(file_, kBuffers) != buffers,
            fmt::format("it holds {} values of buffers, the model has {}", CountOf(file_, kBuffers),
                        buffers));
  refuse_if(info_.optimizer != optimizer,
            fmt::format("it was written with the optimizer '{}', this run has '{}'",
                        info_.optimizer, optimizer));
  refuse_if(CountOf(file_, kOptimizer) != optimizer_state,
            fmt::format("it holds {} values of the optimizer's state, this run has {}; is there "
                        "momentum in only one of them?",
                        CountOf(file_, kOptimizer), optimizer_state));
}

bool CheckpointFile::has_part(int worker) const {
  return worker >= 0 && worker < info_.workers &&
         !worker_parts_[static_cast<std::size_t>(worker)].empty();
}

Checkpoint CheckpointFile::Load() const {
  return {.params = ValuesOf(file_, kParameters),
          .optimizer_state = ValuesOf(file_, kOptimizer),
          .buffers = ValuesOf(file_, kBuffers),
          .state = StateOf(file_)};
}

SavedState CheckpointFile::LoadPart(int worker) const {
  if (!has_part(worker)) return {};
  const TensorFileReader part(WorkerPartPath(path(), worker));
  InfoOf(part, kPartFormat);
  if (part.digest() != worker_parts_[static_cast<std::size_t>(worker)]) {
    throw DataError(part.path(), fmt::format("is not a part of {}: it belongs to another "
                                             "checkpoint or to another worker",
                                             path()));
  }
  return StateOf(part);
}

void CheckpointFile::CheckAll() const {
  for (const TensorFileReader::Section& section : file_.sections()) file_.Read(section);
  for (int worker = 0; worker < info_.workers; ++worker) LoadPart(worker);
}

}  // namespace ringside

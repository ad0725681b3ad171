#include "ringside/experiments/worker/checkpoints.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "ringside/common/base/errors.h"
#include "ringside/common/base/finite.h"
#include "ringside/common/codec/codec_options.h"
#include "ringside/common/measure/activity.h"
#include "ringside/experiments/checkpoint/checkpoint_folder.h"
#include "ringside/experiments/spec/spec_keys.h"
#include "ringside/experiments/system/files/trusted_path.h"
#include "ringside/experiments/worker/run_factories.h"

namespace ringside {
namespace {

std::string OptimizerName(const RunSpec& spec) {
  return spec.catalog().FindKey("optimizer")->get(spec).get<std::string>();
}

// A worker's proposal is a step, or this and why it has none.
constexpr std::string_view kNone = "none: ";

std::int64_t StepFromText(const std::string& text, int worker) {
  std::int64_t step = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), step);
  if (error != std::errc() || end != text.data() + text.size()) {
    throw CommError(fmt::format("worker {}", worker), "the choice of a checkpoint",
                    fmt::format("'{}' is not a step", text));
  }
  return step;
}

/// A run that resumed from such a state would never be right again. With Adam, a parameter whose
/// second moment is infinite stays where it is.
void CheckFinite(std::span<const float> optimizer_state, std::int64_t steps_done) {
  const auto at = FirstNotFinite(optimizer_state);
  if (!at) return;
  throw DivergedError(fmt::format("value {} of the optimizer's state is {} after {} steps", *at,
                                  optimizer_state[*at], steps_done),
                      -1, steps_done);
}

}  // namespace

void Checkpoints::Resume() {
  std::string from = parts_.setup.resume;
  if (from.empty()) return;
  loaded_ = Take(from, "resume");
  if (const std::string& first = parts_.setup.spec.resume;
      !loaded_ && !first.empty() && first != from) {
    from = first;
    loaded_ = Take(from, "resume where the run began");
  }
  if (!loaded_) return;
  if (loaded_->steps_done >= parts_.total_steps) {
    throw ConfigError(fmt::format("cannot resume from {}: it has {} steps done, the run has {}",
                                  from, loaded_->steps_done, parts_.total_steps));
  }
  std::ranges::copy(loaded_->content.params, parts_.space.params().begin());
  std::ranges::copy(loaded_->content.buffers, parts_.model.Buffers().begin());
}

std::optional<Checkpoints::Loaded> Checkpoints::Take(const std::string& from,
                                                     const std::string& name) {
  std::error_code unreadable;  // `Load` says why
  if (std::filesystem::is_directory(from, unreadable)) return AgreeOnNewest(from, name);
  return Load(from);
}

StartPoint Checkpoints::start() const {
  if (!loaded_) return {};
  return {loaded_->steps_done, loaded_->content.optimizer_state};
}

Checkpoints::Loaded Checkpoints::Load(const std::string& path) const {
  const CheckpointFile file(path);
  const RunSpec& spec = parts_.setup.spec;
  file.CheckFits(parts_.model.Tensors(), parts_.model.Buffers().size(), OptimizerName(spec),
                 parts_.optimizer_state_size);
  CheckIsSameRun(file);
  Loaded loaded{file.info().steps_done, file.Load()};
  // With another number of workers there is nobody whose state the parts would be.
  if (file.info().workers == spec.workers) {
    loaded.content.state.merge(file.LoadPart(parts_.setup.who.index));
  }
  return loaded;
}

/// The order of samples must continue: each one is trained once in an epoch.
void Checkpoints::CheckIsSameRun(const CheckpointFile& file) const {
  const auto refuse_unless_equal = [&](const char* what, const auto& there, const auto& here) {
    if (there == here) return;
    throw ConfigError(
        fmt::format("cannot resume from {}: its {} is {}, that of this run {}; "
                    "samples would be trained twice or never",
                    file.path(), what, there, here));
  };
  const CheckpointInfo here = InfoAt(file.info().steps_done);
  refuse_unless_equal("seed", file.info().seed, here.seed);
  refuse_unless_equal("global batch", file.info().global_batch, here.global_batch);
  refuse_unless_equal("dataset", file.info().data, here.data);
  // A file that has grown has the same name. The order of an epoch depends on the number.
  refuse_unless_equal("number of training samples", file.info().samples, here.samples);
}

std::optional<Checkpoints::Loaded> Checkpoints::NewestWhole(
    const std::string& folder, std::int64_t limit, std::vector<std::string>& problems) const {
  for (const std::int64_t step : CheckpointSteps(folder)) {
    if (step > limit) continue;
    try {
      return Load(CheckpointPath(folder, step));
    } catch (const DataError& error) {
      problems.emplace_back(error.what());
    }
  }
  return std::nullopt;
}

/// Every worker proposes the newest checkpoint that it can read. The lowest proposal is the new
/// limit, until all propose the same.
std::optional<Checkpoints::Loaded> Checkpoints::AgreeOnNewest(const std::string& directory,
                                                              const std::string& name) {
  const std::string folder = FindCheckpointFolder(directory);
  const World& world = parts_.setup.world;
  std::vector<std::string> problems;
  std::optional<Loaded> mine;
  // A generation that failed after the last step does some steps again, so that there are steps to
  // report.
  std::int64_t limit = parts_.setup.generation == 0 ? std::numeric_limits<std::int64_t>::max()
                                                    : parts_.total_steps - 1;
  for (int round = 0;; ++round) {
    if (!mine || mine->steps_done > limit) {
      mine = folder.empty() ? std::nullopt : NewestWhole(folder, limit, problems);
    }
    const std::string none =
        problems.empty() ? "there is none" : fmt::format("{}", fmt::join(problems, "; "));
    const std::vector<std::string> proposals =
        StoreAllGather(parts_.store, world, fmt::format("{}/{}", name, round),
                       mine ? std::to_string(mine->steps_done) : std::string(kNone) + none,
                       Deadline::After(StartTimeout(parts_.setup.spec)));
    std::vector<std::int64_t> steps;
    for (std::size_t worker = 0; worker < proposals.size(); ++worker) {
      if (proposals[worker].starts_with(kNone)) {
        if (parts_.setup.generation > 0) {
          NoteProblems(problems, name);
          return std::nullopt;
        }
        throw ConfigError(
            fmt::format("cannot resume from {}: worker {} finds no whole checkpoint: {}", directory,
                        worker, proposals[worker].substr(kNone.size())));
      }
      steps.push_back(StepFromText(proposals[worker], static_cast<int>(worker)));
    }
    const auto [lowest, highest] = std::ranges::minmax(steps);
    if (mine && lowest == highest) {
      NoteProblems(problems, name);
      return mine;
    }
    limit = lowest;
  }
}

/// Collective: the notes of worker 0 are those of the run, so it collects what others have seen.
void Checkpoints::NoteProblems(const std::vector<std::string>& mine, const std::string& name) {
  const std::vector<std::string> all = StoreAllGather(
      parts_.store, parts_.setup.world, name + "/problems",
      fmt::format("{}", fmt::join(mine, "; ")), Deadline::After(StartTimeout(parts_.setup.spec)));
  std::vector<std::string> noted;
  for (const std::string& problems : all) {
    if (problems.empty() || std::ranges::find(noted, problems) != noted.end()) continue;
    parts_.recorder.AddNote("could not resume from the newest checkpoint: " + problems);
    noted.push_back(problems);
  }
}

CheckpointInfo Checkpoints::InfoAt(std::int64_t steps_done) const {
  const RunSpec& spec = parts_.setup.spec;
  return {.steps_done = steps_done,
          .epoch = steps_done / parts_.steps_per_epoch,
          .step_of_epoch = steps_done % parts_.steps_per_epoch,
          .seed = spec.seed,
          .global_batch = spec.ResolvedGlobalBatch(),
          .model = spec.model,
          .data = spec.data,
          .samples = parts_.samples,
          .optimizer = OptimizerName(spec),
          .strategy = spec.strategy,
          .codec = CodecText(spec.options.codec),
          .workers = spec.workers};
}

void Checkpoints::Save(Strategy& strategy, std::int64_t steps_done) {
  const int worker = parts_.setup.who.index;
  const std::string folder = parts_.setup.bundle_dir + "/checkpoints";
  const std::string path = CheckpointPath(folder, steps_done);
  const CheckpointInfo info = InfoAt(steps_done);
  const auto deadline = [&] {
    return Deadline::After(MakeCommOptions(parts_.setup).barrier_timeout);
  };
  std::vector<float> optimizer;
  if (worker == 0) {
    // A run that resumed from an older checkpoint leaves the damaged newer ones behind it. Until
    // the gather below no worker writes a part of a later step, and none trains on.
    if (!std::exchange(saved_, true)) RemoveCheckpointsAfter(folder, steps_done);
    optimizer.resize(parts_.optimizer_state_size);
    strategy.ReadOptimizerState(optimizer);
    CheckFinite(optimizer, steps_done);
  }
  std::vector<StateVector> state = strategy.State();
  const auto own = std::ranges::stable_partition(state, [](const auto& v) { return v.shared; });
  std::string part;
  if (!own.empty()) {
    MakeDirectories(folder);
    part = WriteWorkerPart(WorkerPartPath(path, worker), info, worker, own);
  }
  const auto does = [&](Activity::Kind kind) {
    parts_.recorder.activity().Set({.kind = kind, .step = steps_done});
  };
  std::vector<std::string> parts;
  does(Activity::Kind::kSettle);
  for (std::optional<std::string>& each :
       exchanges_.GatherLiving(fmt::format("checkpoint/{}", steps_done), part, deadline())) {
    parts.push_back(std::move(each).value_or(""));  // a lost worker has no part
  }
  if (worker == 0) {
    does(Activity::Kind::kCheckpoint);
    WriteJobFile(path, info, optimizer, {state.begin(), own.begin()}, parts);
  }
  // In the next step an operation ends if worker 0 does not come within its timeout. A disk may
  // take longer, so all wait here.
  does(Activity::Kind::kSettle);
  exchanges_.GatherLiving(fmt::format("checkpoint/{}/written", steps_done), "", deadline());
}

void Checkpoints::WriteJobFile(const std::string& path, const CheckpointInfo& info,
                               std::span<const float> optimizer,
                               std::span<const StateVector> shared,
                               std::span<const std::string> worker_parts) {
  const std::string folder = std::filesystem::path(path).parent_path();
  MakeDirectories(folder);
  WriteCheckpoint(path, info,
                  {.tensors = parts_.model.Tensors(),
                   .params = parts_.space.params(),
                   .optimizer_state = optimizer,
                   .buffers = parts_.model.Buffers(),
                   .state = shared,
                   .worker_parts = worker_parts});
  // The one before the last stays until the run has ended. A generation that fails after the last
  // step begins there.
  const std::int64_t keep = parts_.setup.spec.keep_checkpoints;
  const std::int64_t one_more = keep > 0 && info.steps_done == parts_.total_steps ? 1 : 0;
  for (std::string& problem : PruneCheckpoints(folder, keep + one_more)) {
    parts_.recorder.AddNote(std::move(problem));
  }
}

}  // namespace ringside

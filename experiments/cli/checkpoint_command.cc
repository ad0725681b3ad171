#include <fmt/format.h>

#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/checkpoint/checkpoint.h"
#include "ringside/experiments/checkpoint/checkpoint_folder.h"
#include "ringside/experiments/checkpoint/safetensors_export.h"
#include "ringside/experiments/cli/commands.h"
#include "ringside/experiments/cli/exit_codes.h"
#include "ringside/experiments/cli/options/option_set.h"
#include "ringside/experiments/text/printable.h"
#include "ringside/experiments/text/units.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

OptionSet CheckpointOptions() {
  OptionSet options(
      "checkpoint", "look at checkpoints, check them, or export their parameters",
      {{"ringside checkpoint show run/checkpoints/step-40.ckpt", "what it holds, and of which run"},
       {"ringside checkpoint check run", "reads every byte of every checkpoint of a run"},
       {"ringside checkpoint export run model.safetensors",
        "the parameters of the newest one, for other programs"}});
  options.TakePositional({"ACTION", "show, check or export"});
  options.TakePositional({"PATH", "a checkpoint, or a folder of them, or a bundle"});
  options.TakePositional({"FILE", "of export: the safetensors file to write", false});
  options.AddGroup("Output");
  options.Add({"json", "", "show, check: one JSON object on stdout", ""});
  return options;
}

/// The checkpoints that PATH means, newest first.
std::vector<std::string> FilesOf(const std::string& path) {
  std::error_code unreadable;  // opening it says why
  if (!fs::is_directory(path, unreadable)) return {path};
  const std::string folder = FindCheckpointFolder(path);
  if (folder.empty()) throw DataError(path, "there is no checkpoint in this folder");
  std::vector<std::string> files;
  for (const std::int64_t step : CheckpointSteps(folder)) {
    files.push_back(CheckpointPath(folder, step));
  }
  return files;
}

json ToJson(const CheckpointFile& file) {
  json sections = json::array();
  for (const TensorFileReader::Section& section : file.sections()) {
    json tensors = json::array();
    for (const NamedShape& tensor : section.tensors) {
      tensors.push_back({{"name", tensor.name}, {"shape", tensor.shape}});
    }
    sections.push_back({{"name", section.name},
                        {"values", section.values},
                        {"sha256", section.sha256},
                        {"tensors", tensors}});
  }
  const CheckpointInfo& info = file.info();
  json parts = json::array();
  for (int worker = 0; worker < info.workers; ++worker) {
    if (file.has_part(worker)) parts.push_back(WorkerPartPath(file.path(), worker));
  }
  return {{"path", file.path()},
          {"sha256", file.digest()},
          {"step", info.steps_done},
          {"epoch", info.epoch},
          {"step_of_epoch", info.step_of_epoch},
          {"seed", info.seed},
          {"global_batch", info.global_batch},
          {"model", info.model},
          {"data", info.data},
          {"samples", info.samples},
          {"optimizer", info.optimizer},
          {"strategy", info.strategy},
          {"codec", info.codec},
          {"workers", info.workers},
          {"sections", sections},
          {"worker_parts", parts}};
}

void Print(const CheckpointFile& file) {
  const CheckpointInfo& info = file.info();
  // Names come from a file that anybody may have written.
  PrintText(stdout, "{}\n", file.path());
  fmt::print("  step {} (epoch {}, step {} of it), seed {}, global batch {}\n", info.steps_done,
             info.epoch, info.step_of_epoch, info.seed, info.global_batch);
  PrintText(stdout, "  {} on {}, {}, {} with {} workers, codec {}\n", info.model,
            info.data.empty() ? "no dataset" : info.data, info.optimizer, info.strategy,
            info.workers, info.codec);
  fmt::print("  {:<28}{:>8}{:>14}{:>12}\n", "section", "tensors", "values", "size");
  for (const TensorFileReader::Section& section : file.sections()) {
    fmt::print("  {:<28}{:>8}{:>14}{:>12}\n", Printable(section.name), section.tensors.size(),
               section.values, FormatBytes(static_cast<double>(section.values) * sizeof(float)));
  }
  int parts = 0;
  for (int worker = 0; worker < info.workers; ++worker) parts += file.has_part(worker) ? 1 : 0;
  if (parts > 0) fmt::print("  and the own state of {} workers, in files beside it\n", parts);
}

int Show(const ParsedOptions& parsed) {
  json all = json::array();
  for (const std::string& path : FilesOf(parsed.positionals()[1])) {
    const CheckpointFile file(path);
    if (parsed.IsOn("json")) {
      all.push_back(ToJson(file));
    } else {
      Print(file);
    }
  }
  if (parsed.IsOn("json")) {
    fmt::print("{}\n", json{{"schema", "ringside.checkpoints/1"}, {"checkpoints", all}}.dump(2));
  }
  return kExitDone;
}

int Check(const ParsedOptions& parsed) {
  json all = json::array();
  bool damaged = false;
  for (const std::string& path : FilesOf(parsed.positionals()[1])) {
    std::string problem;
    try {
      CheckpointFile(path).CheckAll();
    } catch (const DataError& error) {
      problem = error.what();
      damaged = true;
    }
    all.push_back({{"path", path}, {"ok", problem.empty()}, {"problem", problem}});
    if (parsed.IsOn("json")) continue;
    if (problem.empty()) {
      PrintText(stdout, "{}: ok\n", path);
    } else {
      PrintText(stdout, "{}\n", problem);
    }
  }
  if (parsed.IsOn("json")) {
    fmt::print("{}\n",
               json{{"schema", "ringside.checkpoint-check/1"}, {"checkpoints", all}}.dump(2));
  }
  return damaged ? kExitFailed : kExitDone;
}

int Export(const ParsedOptions& parsed) {
  const std::string& to = parsed.positionals()[2];
  const CheckpointFile file(FilesOf(parsed.positionals()[1]).front());
  ExportSafetensors(file, to);
  PrintText(stderr, "{}: the parameters of step {} of {}\n", to, file.info().steps_done,
            file.path());
  return kExitDone;
}

}  // namespace

int RunCheckpointCommand(const Arguments& args, const Catalog&) {
  const OptionSet options = CheckpointOptions();
  const ParsedOptions parsed = options.Parse(args);
  if (parsed.help()) {
    fmt::print("{}", options.Help(Painter::For(stdout, parsed.color())));
    return kExitDone;
  }
  const std::string& action = parsed.positional();
  const bool exports = action == "export";
  if (action != "show" && action != "check" && !exports) {
    throw UsageError("checkpoint: there is no action '" + action + "'; show, check or export");
  }
  if (exports != (parsed.positionals().size() == 3)) {
    throw UsageError(exports ? "checkpoint export: which file shall be written?"
                             : "checkpoint " + action + ": only export writes a file");
  }
  if (exports) return Export(parsed);
  return action == "show" ? Show(parsed) : Check(parsed);
}

}  // namespace ringside

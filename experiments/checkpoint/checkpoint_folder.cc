#include "ringside/experiments/checkpoint/checkpoint_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <functional>
#include <optional>
#include <string_view>
#include <system_error>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/system/files/trusted_path.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "step-";
constexpr std::string_view kSuffix = ".ckpt";
constexpr std::string_view kWorker = ".worker-";
constexpr std::string_view kTemporary = ".ckpt.tmp";

struct FileName {
  std::int64_t step = 0;
  bool whole_job = false;  // false: the part of a worker
};

/// Reads a whole number from the front of `text` and removes it.
std::optional<std::int64_t> TakeNumber(std::string_view& text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || number < 0) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

/// Nothing for a name that is not of a checkpoint's file.
std::optional<FileName> Parse(std::string_view name) {
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  const std::string_view digits = name;
  const auto step = TakeNumber(name);
  if (!step || !digits.starts_with(std::to_string(*step) + ".")) return std::nullopt;
  if (name == kSuffix) return FileName{*step, true};
  if (!name.starts_with(kWorker)) return std::nullopt;
  name.remove_prefix(kWorker.size());
  if (!TakeNumber(name) || name != kSuffix) return std::nullopt;
  return FileName{*step, false};
}

void ForEachName(const std::string& folder, const std::function<void(const std::string&)>& see) {
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    see(entry->path().filename().string());
  }
  if (error) throw DataError(folder, "cannot read the folder: " + error.message());
}

/// Returns why the file could not be removed; empty if it is gone.
std::string Remove(const std::string& path) {
  try {
    RemoveFile(path);
    return {};
  } catch (const DataError& error) {
    return error.what();
  }
}

}  // namespace

std::string CheckpointPath(const std::string& folder, std::int64_t steps_done) {
  return fmt::format("{}/{}{}{}", folder, kPrefix, steps_done, kSuffix);
}

std::string WorkerPartPath(const std::string& checkpoint, int worker) {
  std::string_view stem = checkpoint;
  if (stem.ends_with(kSuffix)) stem.remove_suffix(kSuffix.size());
  return fmt::format("{}{}{}{}", stem, kWorker, worker, kSuffix);
}

std::string FindCheckpointFolder(const std::string& directory) {
  for (const std::string& folder : {directory, directory + "/checkpoints"}) {
    std::error_code unreadable;  // is no folder then
    if (fs::is_directory(folder, unreadable) && !CheckpointSteps(folder).empty()) return folder;
  }
  return {};
}

bool ResumesWithin(const std::string& bundle, const std::string& resume) {
  if (resume.empty()) return false;
  std::error_code error;
  const fs::path inner = fs::weakly_canonical(resume, error);
  if (error) return true;
  const fs::path outer = fs::weakly_canonical(bundle, error);
  if (error) return true;
  return std::ranges::mismatch(outer, inner).in1 == outer.end();
}

std::vector<std::int64_t> CheckpointSteps(const std::string& folder) {
  std::vector<std::int64_t> steps;
  ForEachName(folder, [&](const std::string& name) {
    const auto file = Parse(name);
    if (file && file->whole_job) steps.push_back(file->step);
  });
  std::ranges::sort(steps, std::greater());
  return steps;
}

namespace {

/// Removes the checkpoints whose steps are `unwanted`. Returns what could not be removed.
std::vector<std::string> RemoveWhere(const std::string& folder,
                                     const std::function<bool(std::int64_t step)>& unwanted) {
  std::vector<std::string> names, parts, problems;
  ForEachName(folder, [&](const std::string& name) {
    const auto file = Parse(name);
    if (file && unwanted(file->step)) (file->whole_job ? names : parts).push_back(name);
  });
  // The file of the whole job goes first: without it the parts do not count.
  names.insert(names.end(), parts.begin(), parts.end());
  for (const std::string& name : names) {
    if (std::string problem = Remove(fmt::format("{}/{}", folder, name)); !problem.empty()) {
      problems.push_back(std::move(problem));
    }
  }
  return problems;
}

}  // namespace

std::vector<std::string> PruneCheckpoints(const std::string& folder, std::int64_t keep) {
  const std::vector<std::int64_t> steps = CheckpointSteps(folder);
  if (keep <= 0 || steps.size() <= static_cast<std::size_t>(keep)) return {};
  const std::int64_t oldest = steps[static_cast<std::size_t>(keep) - 1];
  return RemoveWhere(folder, [oldest](std::int64_t step) { return step < oldest; });
}

void RemoveCheckpointsAfter(const std::string& folder, std::int64_t steps_done) {
  std::error_code unreadable;  // has no checkpoints then
  if (!fs::is_directory(folder, unreadable)) return;
  const auto problems =
      RemoveWhere(folder, [steps_done](std::int64_t step) { return step > steps_done; });
  if (!problems.empty()) throw DataError(folder, problems.front());
}

void RemoveTemporaryCheckpoints(const std::string& folder, std::optional<pid_t> process) {
  const std::string end = process ? fmt::format("{}{}", kTemporary, *process) : "";
  std::error_code unreadable;  // What cannot be read or removed only takes room.
  if (!fs::is_directory(folder, unreadable)) return;
  std::vector<std::string> left;
  try {
    ForEachName(folder, [&](const std::string& name) {
      if (name.starts_with(kPrefix) && name.find(kTemporary) != std::string::npos &&
          name.ends_with(end)) {
        left.push_back(name);
      }
    });
  } catch (const DataError&) {
    return;
  }
  for (const std::string& name : left) Remove(fmt::format("{}/{}", folder, name));
}

}  // namespace ringside

#include "ringside/experiments/job/launcher/program_files.h"

#include <fmt/format.h>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string_view>

#include "ringside/common/base/errors.h"
#include "ringside/common/base/regular_file.h"
#include "ringside/experiments/system/files/files.h"
#include "ringside/experiments/system/files/trusted_path.h"

namespace ringside {
namespace {

constexpr std::size_t kMostBytes = std::size_t{1} << 20;

struct KeptFile {
  std::string content;
  int mode = 0;
};

/// A file that is kept; nothing for others. A file that cannot be read is not kept, as the program
/// finds out for itself whether it needs it.
std::optional<KeptFile> ReadKeptFile(const std::string& path) {
  constexpr std::string_view kBinary =
      "\x7f"
      "ELF";
  try {
    const RegularFile file(path);
    KeptFile kept{.content = file.ReadAll(kMostBytes), .mode = file.permissions()};
    if (kept.content.starts_with(kBinary)) return std::nullopt;
    return kept;
  } catch (const DataError&) {
    return std::nullopt;
  }
}

}  // namespace

void KeepProgramFiles(const RunSpec& spec, const std::string& bundle_dir) {
  const std::string folder = bundle_dir + "/program";
  RemoveTree(folder);
  for (std::size_t word = 0; word < spec.program.size(); ++word) {
    const std::string& path = spec.program[word];
    const std::optional<KeptFile> file = ReadKeptFile(path);
    if (!file) continue;
    MakeDirectories(folder);
    // A script that others may not read stays so.
    WriteFileAtomically(
        fmt::format("{}/{}-{}", folder, word, std::filesystem::path(path).filename().string()),
        file->content, file->mode, Umask::kIgnored);
  }
}

}  // namespace ringside

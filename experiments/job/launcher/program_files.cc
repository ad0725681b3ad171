#include "ringside/experiments/job/launcher/program_files.h"

#include <fmt/format.h>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <system_error>

#include "ringside/common/core/errors.h"
#include "ringside/experiments/system/files.h"
#include "ringside/experiments/system/trusted_path.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;

constexpr std::uintmax_t kMostBytes = 1 << 20;

/// The content of a file that is kept; nothing for others. A file that cannot be read is not kept,
/// as the program finds out for itself whether it needs it.
std::optional<std::string> KeptContent(const std::string& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return std::nullopt;
  const std::uintmax_t bytes = fs::file_size(path, error);
  if (error || bytes > kMostBytes) return std::nullopt;
  std::string content;
  try {
    content = ReadFile(path, kMostBytes);
  } catch (const DataError&) {
    return std::nullopt;
  }
  if (content.starts_with("\x7f"
                          "ELF")) {
    return std::nullopt;
  }
  return content;
}

}  // namespace

void KeepProgramFiles(const RunSpec& spec, const std::string& bundle_dir) {
  const std::string folder = bundle_dir + "/program";
  std::error_code error;
  fs::remove_all(folder, error);
  if (error) throw DataError(folder, "it cannot be removed: " + error.message());
  for (std::size_t word = 0; word < spec.program.size(); ++word) {
    const std::string& path = spec.program[word];
    const std::optional<std::string> content = KeptContent(path);
    if (!content) continue;
    MakeDirectories(folder);
    const std::string kept =
        fmt::format("{}/{}-{}", folder, word, fs::path(path).filename().string());
    WriteFileAtomically(kept, *content);
    // A script that others may not read stays so.
    const fs::perms mode = fs::status(path, error).permissions() & fs::perms::all;
    if (!error) fs::permissions(kept, mode, error);
    if (error) throw DataError(kept, "its mode cannot be that of " + path + ": " + error.message());
  }
}

}  // namespace ringside

#include "ringside/experiments/matrix/journal.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "ringside/common/base/errors.h"
#include "ringside/common/base/file_descriptor.h"
#include "ringside/experiments/system/files/files.h"
#include "ringside/experiments/system/files/trusted_path.h"
#include "ringside/experiments/text/json_integer.h"
#include "ringside/experiments/text/lines.h"

namespace ringside {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxBytes = std::size_t{64} << 20;

JournalLine FromJson(const json& entry) {
  return {.run_id = entry.value("run_id", ""),
          .label = entry.value("label", ""),
          .kind = entry.value("kind", ""),
          .cell = entry.value("cell", ""),
          .status = entry.value("status", ""),
          .seconds = entry.value("seconds", 0.0),
          .attempts = entry.value("attempts", 1),
          .failure = entry.value("failure", ""),
          .recovered = entry.value("recovered", false)};
}

std::string ToText(const JournalLine& line) {
  json entry{{"run_id", line.run_id},    {"label", line.label},   {"kind", line.kind},
             {"cell", line.cell},        {"status", line.status}, {"seconds", line.seconds},
             {"attempts", line.attempts}};
  if (!line.failure.empty()) entry["failure"] = line.failure;
  if (line.recovered) entry["recovered"] = true;
  return entry.dump() + "\n";
}

}  // namespace

std::string KindOf(const RunSpec& spec) {
  return fmt::format("{}/{}", spec.strategy, spec.workers);
}

std::string CellOf(const RunSpec& spec) {
  RunSpec first = spec;
  first.repetition = 0;
  return RunId(first);
}

JournalLine MakeJournalLine(const PlannedRun& run, const std::string& status, double seconds) {
  return {.run_id = run.id,
          .label = run.label,
          .kind = KindOf(run.spec),
          .cell = CellOf(run.spec),
          .status = status,
          .seconds = seconds};
}

std::vector<JournalLine> Journal::Read() const {
  std::vector<JournalLine> lines;
  std::error_code ignored;  // reading says more
  if (!std::filesystem::exists(file_, ignored)) return lines;
  ForEachLine(ReadFile(file_.string(), kMaxBytes), [&](std::string_view text) {
    const json entry = json::parse(text, nullptr, false);
    if (!entry.is_object() || !IntegerOf<int>(entry.value("attempts", json(1)))) return;
    try {
      lines.push_back(FromJson(entry));
    } catch (const json::exception&) {  // NOLINT(bugprone-empty-catch): skipped, as no JSON is
    }
  });
  return lines;
}

void Journal::Append(const JournalLine& line) const {
  const FileDescriptor fd = OpenForWriting(file_.string(), O_APPEND);
  const std::string text = ToText(line);
  struct stat before {};
  if (::fstat(fd.get(), &before) != 0) {
    throw DataError(file_.string(), std::string("cannot open: ") + std::strerror(errno));
  }
  const ssize_t written = ::write(fd.get(), text.data(), text.size());
  if (written == static_cast<ssize_t>(text.size())) return;
  const int error = written < 0 ? errno : ENOSPC;
  if (::ftruncate(fd.get(), before.st_size) != 0) TruncatePartialLine();
  throw DataError(file_.string(), std::string("cannot write: ") + std::strerror(error));
}

void Journal::TruncatePartialLine() const {
  std::error_code error;
  if (!std::filesystem::exists(std::filesystem::symlink_status(file_, error))) return;
  const FileDescriptor fd = OpenForWriting(file_.string(), 0);
  const FileDescriptor in(
      ::open(fmt::format("/proc/self/fd/{}", fd.get()).c_str(), O_RDONLY | O_CLOEXEC));
  if (in.get() < 0) {
    throw DataError(file_.string(), std::string("cannot open: ") + std::strerror(errno));
  }
  const std::string text = ReadDescriptor(in.get(), kMaxBytes, file_.string());
  const std::size_t whole = text.rfind('\n') + 1;  // 0 where there is none
  if (whole == text.size()) return;
  if (::ftruncate(fd.get(), static_cast<off_t>(whole)) != 0) {
    throw DataError(file_.string(), static_cast<std::int64_t>(whole),
                    std::string("cannot cut off half a line: ") + std::strerror(errno));
  }
}

}  // namespace ringside

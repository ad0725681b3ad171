#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/cli/commands.h"
#include "ringside/experiments/cli/exit_codes.h"
#include "ringside/experiments/cli/options/option_set.h"
#include "ringside/experiments/matrix/directory_lock.h"
#include "ringside/experiments/store/run_index.h"
#include "ringside/experiments/system/files/sudo_ownership_transfer.h"
#include "ringside/experiments/text/printable.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;

OptionSet IndexOptions() {
  OptionSet options(
      "index", "rebuild the SQLite index of a directory of results from its bundles",
      {{"ringside index results/quickstart", "writes results/quickstart/index.sqlite"},
       {"sqlite3 results/quickstart/index.sqlite "
        "'SELECT strategy, workers, step_ms FROM runs ORDER BY 1, 2'",
        "ask it"}});
  options.TakePositional({"DIR", "what a matrix wrote: a directory of bundles"});
  options.AddGroup("Output");
  options.Add({"json", "", "print what was indexed as one JSON object on stdout", ""});
  return options;
}

std::map<std::string, int> CountByStatus(const BundleScan& scan) {
  std::map<std::string, int> counts;
  for (const RunRow& row : scan.rows) ++counts[row.Value("status").get<std::string>()];
  return counts;
}

nlohmann::json ToJson(const fs::path& file, const BundleScan& scan) {
  nlohmann::json problems = nlohmann::json::array();
  for (const UnindexedBundle& bundle : scan.problems) {
    problems.push_back(
        {{"path", bundle.path}, {"cause", bundle.cause}, {"damaged", bundle.damaged}});
  }
  return {{"schema", "ringside.index/1"},     {"index", file.string()},
          {"version", RunIndex::kVersion},    {"runs", scan.rows.size()},
          {"by_status", CountByStatus(scan)}, {"left_out", problems}};
}

}  // namespace

int RunIndexCommand(const Arguments& args, const Catalog&) {
  const OptionSet options = IndexOptions();
  const ParsedOptions parsed = options.Parse(args);
  if (parsed.help()) {
    fmt::print("{}", options.Help(Painter::For(stdout, parsed.color())));
    return kExitDone;
  }
  const fs::path directory = parsed.positional();
  if (!fs::is_directory(directory)) {
    throw Error(fmt::format("{}: there is no such directory", directory.string()));
  }
  const SudoOwnershipTransfer ownership(directory, CurrentEnvironment());
  const DirectoryLock lock(directory);
  RunIndex index = RunIndex::Open(directory);
  const BundleScan scan = RebuildIndex(index, directory);
  bool damaged = false;
  for (const UnindexedBundle& bundle : scan.problems) {
    PrintText(stderr, "ringside: left out {}: {}\n", (directory / bundle.path).string(),
              bundle.cause);
    damaged = damaged || bundle.damaged;
  }
  const fs::path file = directory / kIndexFile;
  if (parsed.IsOn("json")) {
    fmt::print("{}\n", ToJson(file, scan).dump(2));
  } else {
    PrintText(stdout, "{}: {} runs", file.string(), scan.rows.size());
    for (const auto& [status, count] : CountByStatus(scan))
      PrintText(stdout, ", {} {}", count, status);
    fmt::print("\n");
  }
  // The index lacks the damaged results. The exit code tells this to scripts.
  return damaged ? kExitFailed : kExitDone;
}

}  // namespace ringside

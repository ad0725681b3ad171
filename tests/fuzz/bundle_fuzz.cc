// The files of a bundle, as reports, the index and a resumed matrix read them. An input is the text
// of the files, one after the other; a line "---" stands between two.
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "ringside/experiments/report/runs/bundle_reader.h"
#include "ringside/experiments/report/runs/study_runs.h"
#include "ringside/experiments/spec/bundle.h"
#include "ringside/experiments/store/run_row.h"
#include "tests/experiments/test_catalog.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/scratch_directory.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kBetween = "\n---\n";
constexpr std::array kFiles{"summary.json", "spec.json", "metrics.jsonl", "environment.json",
                            "network.json"};
constexpr double kTargetAccuracy = 0.9;

void ReadForReport(const fs::path& directory) {
  const StudyInput study = ReadStudy(directory, TestCatalog());
  for (const RunResult& run : study.runs) static_cast<void>(MakeStudyRun(run, kTargetAccuracy));
}

void ReadForMatrix(const fs::path& bundle) {
  static_cast<void>(IsFinished(BundleStatus(bundle)));
  DropRefusals([&] { RefuseNewerBundle(bundle); });
  DropRefusals([&] { static_cast<void>(LimitOf(ReadSummary(bundle))); });
  DropRefusals([&] { static_cast<void>(ReadBundleSource(bundle, TestCatalog())); });
}

}  // namespace

// All in corpus/bundle.
std::vector<std::string> FuzzSeeds() { return {}; }

}  // namespace ringside

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ringside;
  static const ScratchDirectory scratch;
  fs::create_directory(scratch.Path("run"));
  FuzzInput input(data, size);
  for (const std::string file : kFiles) scratch.Write("run/" + file, input.NextPart(kBetween));
  DropRefusals([&] { ReadForReport(scratch.path()); });
  DropRefusals([&] { static_cast<void>(ScanBundles(scratch.path())); });
  ReadForMatrix(scratch.Path("run"));
  return 0;
}

// Files of one JSON object a line: the metrics of a run, and the journal of a matrix. A kill may
// have cut off the last line.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ringside/experiments/matrix/estimate.h"
#include "ringside/experiments/matrix/journal.h"
#include "ringside/experiments/report/runs/run_metrics.h"
#include "tests/fuzz/fuzz_input.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/scratch_directory.h"

namespace ringside {
namespace {

void ReadMetrics(const ScratchDirectory& scratch) {
  static_cast<void>(ReadRunMetrics(scratch.Path("metrics.jsonl")));
}

// As a matrix does when it goes on.
void ReadJournal(const ScratchDirectory& scratch) {
  const Journal journal(scratch.path());
  journal.TruncatePartialLine();
  const std::vector<JournalLine> before = journal.Read();
  static_cast<void>(EstimateTime({}, before).Text());
  journal.Append({.run_id = "0123456789abcdef",
                  .label = "ring workers=2",
                  .kind = "ring/2",
                  .cell = "0123456789abcdef",
                  .status = "done",
                  .seconds = 1.5});
  const std::vector<JournalLine> after = journal.Read();
  if (after.size() != before.size() + 1 || after.back().seconds != 1.5) {
    throw InternalError("a new line of the journal is lost");
  }
}

}  // namespace

// All in corpus/json_lines.
std::vector<std::string> FuzzSeeds() { return {}; }

}  // namespace ringside

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace ringside;
  static const ScratchDirectory scratch;
  const std::string text = FuzzInput(data, size).Rest();
  scratch.Write("metrics.jsonl", text);
  scratch.Write(kJournalFile, text);
  DropRefusals([] { ReadMetrics(scratch); });
  DropRefusals([] { ReadJournal(scratch); });
  return 0;
}

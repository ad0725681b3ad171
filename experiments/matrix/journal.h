#ifndef RINGSIDE_EXPERIMENTS_MATRIX_JOURNAL_H_
#define RINGSIDE_EXPERIMENTS_MATRIX_JOURNAL_H_

#include <filesystem>
#include <string>
#include <vector>

#include "experiments/matrix/matrix_plan.h"

namespace ringside {

inline constexpr char kJournalFile[] = "journal.jsonl";

/// One run that a matrix has carried out.
struct JournalLine {
  std::string run_id;
  std::string label;
  std::string kind;  ///< `KindOf`.
  std::string cell;  ///< `CellOf`.
  std::string status;
  double seconds = 0;  ///< From the end of the run before to its own end, all attempts.
  int attempts = 1;
  /// True: the runner was killed before it had written the line, the next one made it from the
  /// bundle.
  bool recovered = false;
};

/// Strategy and workers: what takes about as long.
std::string KindOf(const RunSpec& spec);
/// Equal for the repetitions of one run alone.
std::string CellOf(const RunSpec& spec);

JournalLine MakeJournalLine(const PlannedRun& run, const std::string& status, double seconds);

/// journal.jsonl of a study: what estimates and benchmarks read. The bundles are the truth; a line
/// is written after its bundle is finished. Written under the directory's lock alone.
class Journal {
 public:
  explicit Journal(const std::filesystem::path& directory) : file_(directory / kJournalFile) {}

  /// What cannot be parsed is left out: a line that a kill cut short is no news.
  std::vector<JournalLine> Read() const;
  /// All of the line or nothing of it. Throws `DataError`.
  void Append(const JournalLine& line) const;
  /// Cuts off the end of a line that a kill cut short, so that the next one has its own.
  void Mend() const;

 private:
  std::filesystem::path file_;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_MATRIX_JOURNAL_H_

#ifndef RINGSIDE_EXPERIMENTS_MATRIX_JOURNAL_H_
#define RINGSIDE_EXPERIMENTS_MATRIX_JOURNAL_H_

#include <filesystem>
#include <string>
#include <vector>

#include "ringside/experiments/matrix/matrix_plan.h"

namespace ringside {

inline constexpr char kJournalFile[] = "journal.jsonl";

/// One run that a matrix has carried out.
struct JournalLine {
  std::string run_id;
  std::string label;
  std::string kind;  ///< `KindOf`.
  std::string cell;  ///< `CellOf`.
  std::string status;
  double seconds = 0;  ///< From the end of the previous run to its own end, all attempts.
  int attempts = 1;
  std::string failure{};  ///< `FailureKindName`; empty: none, or `recovered`.
  /// True: a runner was killed before it wrote the line, so the next runner made it from the
  /// bundle.
  bool recovered = false;
};

/// A text of strategy and workers. Runs of one kind take about the same time.
std::string KindOf(const RunSpec& spec);
/// A text that is equal for the repetitions of one run, and only for them.
std::string CellOf(const RunSpec& spec);

JournalLine MakeJournalLine(const PlannedRun& run, const std::string& status, double seconds);

/// The file journal.jsonl of a study, for estimates and benchmarks. The bundles are authoritative:
/// a line is written after its bundle is finished. Write only while holding the directory's lock.
class Journal {
 public:
  explicit Journal(const std::filesystem::path& directory) : file_(directory / kJournalFile) {}

  /// Reads the lines. Skips what cannot be parsed, such as a line that a kill cut short. Throws
  /// `DataError` for what is no regular file or longer than 64 MiB.
  std::vector<JournalLine> Read() const;
  /// Writes the whole line or nothing. Throws `DataError`.
  void Append(const JournalLine& line) const;
  /// Removes a last line that a kill cut short, so that the next line starts on its own.
  void TruncatePartialLine() const;

 private:
  std::filesystem::path file_;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_MATRIX_JOURNAL_H_

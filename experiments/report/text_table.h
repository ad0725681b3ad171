#ifndef RINGSIDE_EXPERIMENTS_REPORT_TEXT_TABLE_H_
#define RINGSIDE_EXPERIMENTS_REPORT_TEXT_TABLE_H_

#include <string>
#include <vector>

namespace ringside {

/// A table in plain text: columns as wide as their longest cell, two blanks between. A value.
class TextTable {
 public:
  enum class Align { kLeft, kRight };
  struct Column {
    std::string title;  ///< May hold line breaks.
    Align align = Align::kRight;
  };

  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}
  /// As many cells as columns.
  void AddRow(std::vector<std::string> cells) { rows_.push_back({std::move(cells), ""}); }
  /// A line of its own under the row that was added last; takes no column's room.
  void AddNote(std::string note) { rows_.back().note = std::move(note); }
  /// Ends with a line break; no blanks at the ends of lines.
  std::string Render() const;

 private:
  struct Row {
    std::vector<std::string> cells;
    std::string note;
  };

  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_TEXT_TABLE_H_

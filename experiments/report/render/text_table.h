#ifndef RINGSIDE_EXPERIMENTS_REPORT_RENDER_TEXT_TABLE_H_
#define RINGSIDE_EXPERIMENTS_REPORT_RENDER_TEXT_TABLE_H_

#include <string>
#include <vector>

namespace ringside {

/// A table in plain text. A column is as wide as its longest cell; two blanks separate columns.
class TextTable {
 public:
  enum class Align { kLeft, kRight };
  struct Column {
    std::string title;  ///< May contain line breaks.
    Align align = Align::kRight;
  };

  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}
  /// Adds a row with as many cells as there are columns.
  void AddRow(std::vector<std::string> cells) { rows_.push_back({std::move(cells), ""}); }
  /// Adds a line under the last row. It does not widen any column.
  void AddNote(std::string note) { rows_.back().note = std::move(note); }
  /// The text. It ends with a line break; no line ends with blanks.
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

#endif  // RINGSIDE_EXPERIMENTS_REPORT_RENDER_TEXT_TABLE_H_

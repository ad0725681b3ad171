#ifndef RINGSIDE_EXPERIMENTS_REPORT_RENDER_CSV_H_
#define RINGSIDE_EXPERIMENTS_REPORT_RENDER_CSV_H_

#include <optional>
#include <string>

namespace ringside {

/// A field of text. It is quoted where RFC 4180 requires it. An apostrophe leads a text that a
/// spreadsheet would take for a formula: one that begins with = + - @, a tab or a carriage return.
std::string CsvText(const std::string& text);
/// A number in full precision; an absent one is an empty field.
std::string CsvNumber(const std::optional<double>& value);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_RENDER_CSV_H_

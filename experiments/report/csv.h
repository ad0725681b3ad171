#ifndef RINGSIDE_EXPERIMENTS_REPORT_CSV_H_
#define RINGSIDE_EXPERIMENTS_REPORT_CSV_H_

#include <optional>
#include <string>

namespace ringside {

/// A field of text: quoted where RFC 4180 asks for it, and led by an apostrophe where a spreadsheet
/// would take it for a formula (= + - @, a tab or a carriage return first).
std::string CsvText(const std::string& text);
/// A number in full precision; empty where it is absent.
std::string CsvNumber(const std::optional<double>& value);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_CSV_H_

#ifndef RINGSIDE_EXPERIMENTS_TEXT_UNITS_H_
#define RINGSIDE_EXPERIMENTS_TEXT_UNITS_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ringside {

/// Reads numbers with units from flags and spec files. Every function reads the whole text. It
/// throws a `ConfigError` that quotes the text and says what was expected. A number without a unit
/// has the unit of the function's name.

std::int64_t ParseInteger(std::string_view text);
/// A finite number.
double ParseReal(std::string_view text);
/// "true", "yes", "on", "1" and their opposites.
bool ParseSwitch(std::string_view text);
/// "128,64": integers with commas between; empty text is an empty list.
std::vector<int> ParseIntegerList(std::string_view text);
/// "ring,ps-sync": words with commas between. Blanks around words are dropped; no word is empty.
std::vector<std::string> ParseWordList(std::string_view text);
/// "kind=rotating,factor=2": names and values with commas between, in their order. Blanks around
/// them are dropped. A flag is written like this when its key in a spec file takes a map. A word
/// without '=' is a value without a name. No name comes twice, and no value is empty.
std::vector<std::pair<std::string, std::string>> ParsePairs(std::string_view text);

/// "4MiB", "64KiB", "1GB", "512B" in bytes, at most 2^62. Binary (KiB) and decimal (kB) prefixes
/// follow IEC 80000-13. A number without a unit counts multiples of `unit_bytes`.
std::int64_t ParseBytes(std::string_view text, std::int64_t unit_bytes = 1);
/// "1Gbps", "25Gbit/s", "100Mbps" in bits per second, decimal prefixes.
double ParseBitsPerSecond(std::string_view text);
/// "2s", "500us", "1.5ms", "3min", "2h" in seconds.
double ParseSeconds(std::string_view text);
/// "0.05" and "5%" alike.
double ParseFraction(std::string_view text);

/// "4 MiB", "1.5 KiB", "17 B": three significant digits, binary prefixes.
std::string FormatBytes(double bytes);
/// "85,002": for people.
std::string FormatCount(std::int64_t count);
/// "3.2 s", "2 min 5 s": for people.
std::string FormatSeconds(double seconds);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_TEXT_UNITS_H_

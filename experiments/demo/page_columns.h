#ifndef RINGSIDE_EXPERIMENTS_DEMO_PAGE_COLUMNS_H_
#define RINGSIDE_EXPERIMENTS_DEMO_PAGE_COLUMNS_H_

#include <cstdint>
#include <span>
#include <string>

namespace ringside {

/// A column of integers as text for the page: the differences between neighbours (the first one to
/// 0), zigzag-coded as variable-length integers of 7 bits a byte (as in Protocol Buffers), in
/// base64. Neighbours that are close take a byte. The difference of any two is within 63 bits.
/// Pure.
std::string PageColumn(std::span<const std::int64_t> values);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_DEMO_PAGE_COLUMNS_H_

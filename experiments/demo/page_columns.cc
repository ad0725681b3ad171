#include "ringside/experiments/demo/page_columns.h"

#include <cstddef>
#include <vector>

#include "ringside/experiments/web/html_page.h"

namespace ringside {

std::string PageColumn(std::span<const std::int64_t> values) {
  std::vector<std::byte> bytes;
  bytes.reserve(2 * values.size());
  std::int64_t before = 0;
  for (const std::int64_t value : values) {
    const std::int64_t difference = value - before;
    before = value;
    auto rest =
        static_cast<std::uint64_t>(difference) << 1 ^ static_cast<std::uint64_t>(difference >> 63);
    for (; rest >= 0x80; rest >>= 7) bytes.push_back(static_cast<std::byte>(rest | 0x80));
    bytes.push_back(static_cast<std::byte>(rest));
  }
  return Base64(bytes);
}

}  // namespace ringside

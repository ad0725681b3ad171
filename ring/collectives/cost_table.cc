#include "ringside/ring/collectives/cost_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

std::string Size(std::size_t bytes) {
  if (bytes < std::size_t{1} << 20) return fmt::format("{:.0f} KiB", bytes / 1024.0);
  return fmt::format("{:.1f} MiB", bytes / 1024.0 / 1024.0);
}

}  // namespace

void CostTable::Add(std::size_t bytes, std::vector<double> seconds) {
  const bool ascending = rows_.empty() || rows_.back().bytes < bytes;
  if (seconds.size() != names_.size() || !ascending) {
    throw InternalError("a table of costs with a row out of place");
  }
  rows_.push_back({bytes, std::move(seconds)});
}

double CostTable::Seconds(std::size_t way, std::size_t bytes) const {
  const auto above =
      std::ranges::find_if(rows_, [&](const Row& row) { return row.bytes >= bytes; });
  const auto size = static_cast<double>(bytes);
  if (above == rows_.end()) {
    const Row& last = rows_.back();
    return last.seconds[way] * size / static_cast<double>(last.bytes);
  }
  if (above == rows_.begin()) return above->seconds[way];
  const auto below = std::prev(above);
  const double share =
      (size - static_cast<double>(below->bytes)) / static_cast<double>(above->bytes - below->bytes);
  return below->seconds[way] + share * (above->seconds[way] - below->seconds[way]);
}

std::size_t CostTable::Cheapest(std::size_t bytes) const {
  std::size_t cheapest = 0;
  for (std::size_t way = 1; way < names_.size(); ++way) {
    if (Seconds(way, bytes) < Seconds(cheapest, bytes)) cheapest = way;
  }
  return cheapest;
}

std::string CostTable::Describe() const {
  std::string text;
  for (const Row& row : rows_) {
    const std::size_t cheapest = Cheapest(row.bytes);
    std::string others;
    for (std::size_t way = 0; way < names_.size(); ++way) {
      if (way == cheapest) continue;
      others += fmt::format("{}{} {:.0f}", others.empty() ? "" : ", ", names_[way],
                            row.seconds[way] * 1e6);
    }
    text += fmt::format("{}{}: {} {:.0f} us ({})", text.empty() ? "" : "; ", Size(row.bytes),
                        names_[cheapest], row.seconds[cheapest] * 1e6, others);
  }
  return text;
}

}  // namespace ringside

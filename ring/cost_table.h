#ifndef RINGSIDE_RING_COST_TABLE_H_
#define RINGSIDE_RING_COST_TABLE_H_

#include <cstddef>
#include <string>
#include <vector>

namespace ringside {

/// How long every way to sum took, by size: what `auto` decides by. Pure: equal tables give equal
/// decisions.
class CostTable {
 public:
  /// One entry per way to sum.
  explicit CostTable(std::vector<std::string> names) : names_(std::move(names)) {}

  /// Measured with `bytes`, in seconds by way. Sizes come in ascending order.
  void Add(std::size_t bytes, std::vector<double> seconds);

  bool empty() const { return rows_.empty(); }
  /// Linear between two sizes, in proportion beyond the last, the first's below it.
  double Seconds(std::size_t way, std::size_t bytes) const;
  /// The least; of equals the first. The table is not empty.
  std::size_t Cheapest(std::size_t bytes) const;
  /// For people: the cheapest of every size with its time, and the others'.
  std::string Describe() const;

 private:
  struct Row {
    std::size_t bytes;
    std::vector<double> seconds;
  };

  std::vector<std::string> names_;
  std::vector<Row> rows_;
};

}  // namespace ringside

#endif  // RINGSIDE_RING_COST_TABLE_H_

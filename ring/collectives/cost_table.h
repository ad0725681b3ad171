#ifndef RINGSIDE_RING_COLLECTIVES_COST_TABLE_H_
#define RINGSIDE_RING_COLLECTIVES_COST_TABLE_H_

#include <cstddef>
#include <string>
#include <vector>

namespace ringside {

/// The measured times of every way to sum, by size. `auto` decides with it. Equal tables give equal
/// decisions.
class CostTable {
 public:
  /// One entry per way to sum.
  explicit CostTable(std::vector<std::string> names) : names_(std::move(names)) {}

  /// Adds the seconds measured with `bytes`, one per way. Sizes come in ascending order.
  void Add(std::size_t bytes, std::vector<double> seconds);

  bool empty() const { return rows_.empty(); }
  /// Linear between two sizes, proportional above the last one, constant below the first one.
  double Seconds(std::size_t way, std::size_t bytes) const;
  /// Returns the way with the least time; among equals, the first one. The table must not be empty.
  std::size_t Cheapest(std::size_t bytes) const;
  /// Text for people: for every size the cheapest way, its time, and the times of the others.
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

#endif  // RINGSIDE_RING_COLLECTIVES_COST_TABLE_H_

#ifndef RINGSIDE_TESTS_COMMON_ALLOCATION_COUNTER_H_
#define RINGSIDE_TESTS_COMMON_ALLOCATION_COUNTER_H_

#include <cstdint>
#include <string>
#include <vector>

namespace ringside {

/// Counts the calls of `operator new` in the whole process, on all threads, between `Start` and
/// `Stop`. The executable must link allocation_counter.cc, which replaces the operator. What C
/// libraries take with malloc is not counted.
class AllocationCounter {
 public:
  /// One allocation: its size and its callers.
  struct Allocation {
    std::size_t bytes = 0;
    std::vector<std::string> frames;  ///< The innermost caller first.
  };

  static void Start();
  static std::int64_t Stop();
  /// The first 64 allocations of the last count, at most.
  static std::vector<Allocation> Seen();
  /// `Seen()` as lines, for the message of a test that fails.
  static std::string SeenText();
};

}  // namespace ringside

#endif  // RINGSIDE_TESTS_COMMON_ALLOCATION_COUNTER_H_

#ifndef RINGSIDE_TESTS_COMMON_TEST_DATASET_H_
#define RINGSIDE_TESTS_COMMON_TEST_DATASET_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "ringside/common/data/dataset.h"

namespace ringside {

/// A made-up data set that is easy to learn. The label of sample i is i mod classes. Inputs are
/// small integer noise; those whose index is congruent to the label are 3 higher. The data depend
/// only on the arguments.
class TestDataset : public Dataset {
 public:
  TestDataset(std::size_t train, std::size_t test, std::size_t inputs = 6, int classes = 3)
      : train_(train), test_(test), inputs_(inputs), classes_(classes) {}

  SampleShape shape() const override { return {1, 1, inputs_}; }
  int classes() const override { return classes_; }
  std::size_t size(Split split) const override { return split == Split::kTrain ? train_ : test_; }
  std::int64_t Read(Split split, std::size_t index, std::span<float> out) const override;

 private:
  std::size_t train_;
  std::size_t test_;
  std::size_t inputs_;
  int classes_;
};

}  // namespace ringside

#endif  // RINGSIDE_TESTS_COMMON_TEST_DATASET_H_

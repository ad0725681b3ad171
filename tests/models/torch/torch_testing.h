#ifndef RINGSIDE_TESTS_MODELS_TORCH_TORCH_TESTING_H_
#define RINGSIDE_TESTS_MODELS_TORCH_TORCH_TESTING_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <ostream>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ringside/common/data/dataset.h"
#include "ringside/models/core/model_entry.h"

namespace ringside {

/// A model on libtorch and the shape of its input.
struct TorchCase {
  std::string model;
  SampleShape input;
};

std::ostream& operator<<(std::ostream& out, const TorchCase& test_case);

/// The entry of a table with this name.
const ModelEntry& EntryOf(std::span<const ModelEntry> table, const std::string& name);

ModelOptions TorchOptionsOf(const TorchCase& test_case, std::uint64_t seed);

std::unique_ptr<Model> MakeTorchModel(const TorchCase& test_case, std::uint64_t seed = 1);

/// Random samples. They own their data.
struct TestSamples {
  TestSamples(const SampleShape& shape, std::size_t samples, std::uint64_t seed);

  Batch Slice(std::size_t begin, std::size_t count, float scale) const;
  Batch All(float scale) const { return Slice(0, labels.size(), scale); }

  std::vector<float> inputs;
  std::vector<std::int64_t> labels;
};

std::vector<std::pair<std::string, std::size_t>> NamesAndSizes(std::span<const TensorSpec> tensors);

inline std::vector<float> CopyOf(std::span<const float> values) {
  return {values.begin(), values.end()};
}

/// |a - b| / |b|, Euclidean.
double RelativeDifference(std::span<const float> a, std::span<const float> b);

}  // namespace ringside

#endif  // RINGSIDE_TESTS_MODELS_TORCH_TORCH_TESTING_H_

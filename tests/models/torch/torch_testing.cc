#include "tests/models/torch/torch_testing.h"

#include <algorithm>
#include <cmath>

#include "ringside/common/base/errors.h"
#include "ringside/common/base/splitmix64.h"
#include "ringside/models/torch/torch_model_table.h"

namespace ringside {

std::ostream& operator<<(std::ostream& out, const TorchCase& test_case) {
  const SampleShape& shape = test_case.input;
  return out << test_case.model << "_" << shape.channels << "x" << shape.height << "x"
             << shape.width;
}

const ModelEntry& EntryOf(std::span<const ModelEntry> table, const std::string& name) {
  const auto entry = std::ranges::find(table, name, &ModelEntry::name);
  if (entry == table.end()) throw InternalError("no model " + name);
  return *entry;
}

ModelOptions TorchOptionsOf(const TorchCase& test_case, std::uint64_t seed) {
  return {.input = test_case.input, .classes = 10, .seed = seed, .widths = {48, 32}};
}

std::unique_ptr<Model> MakeTorchModel(const TorchCase& test_case, std::uint64_t seed) {
  return EntryOf(TorchModelTable(), test_case.model).make(TorchOptionsOf(test_case, seed));
}

TestSamples::TestSamples(const SampleShape& shape, std::size_t samples, std::uint64_t seed)
    : inputs(samples * shape.elements()), labels(samples) {
  SplitMix64 random(seed);
  for (float& value : inputs) value = static_cast<float>(random.Below(2001)) / 1000.0F - 1.0F;
  for (std::int64_t& label : labels) label = static_cast<std::int64_t>(random.Below(10));
}

Batch TestSamples::Slice(std::size_t begin, std::size_t count, float scale) const {
  const std::size_t elements = inputs.size() / labels.size();
  return {.samples = count,
          .global_samples = labels.size(),
          .gradient_scale = scale,
          .inputs = std::span(inputs).subspan(begin * elements, count * elements),
          .labels = std::span(labels).subspan(begin, count)};
}

std::vector<std::pair<std::string, std::size_t>> NamesAndSizes(
    std::span<const TensorSpec> tensors) {
  std::vector<std::pair<std::string, std::size_t>> pairs;
  for (const TensorSpec& tensor : tensors) pairs.emplace_back(tensor.name, tensor.elements);
  return pairs;
}

double RelativeDifference(std::span<const float> a, std::span<const float> b) {
  double difference = 0;
  double norm = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference += std::pow(static_cast<double>(a[i]) - static_cast<double>(b[i]), 2);
    norm += std::pow(static_cast<double>(b[i]), 2);
  }
  return std::sqrt(difference / norm);
}

}  // namespace ringside

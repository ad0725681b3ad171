#include "ringside/common/data/sample_buffer.h"

namespace ringside {

void SampleBuffer::Read(const Dataset& dataset, Split split, std::span<const std::size_t> indices,
                        Batch& batch) {
  const std::size_t elements = dataset.shape().elements();
  const std::size_t floats = dataset.integer_inputs() ? 0 : elements;
  const std::size_t integers = dataset.integer_inputs() ? elements : 0;
  const std::size_t targets = dataset.targets();
  inputs_.resize(indices.size() * floats);
  integers_.resize(indices.size() * integers);
  labels_.resize(indices.size());
  targets_.resize(indices.size() * targets);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    labels_[i] = dataset.Read(split, indices[i], std::span(inputs_).subspan(i * floats, floats));
    if (integers > 0) {
      dataset.ReadIntegers(split, indices[i], std::span(integers_).subspan(i * integers, integers));
    }
    if (targets > 0) {
      dataset.ReadTargets(split, indices[i], std::span(targets_).subspan(i * targets, targets));
    }
  }
  batch.inputs = inputs_;
  batch.integers = integers_;
  batch.labels = labels_;
  batch.targets = targets_;
}

}  // namespace ringside

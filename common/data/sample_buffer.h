#ifndef RINGSIDE_COMMON_DATA_SAMPLE_BUFFER_H_
#define RINGSIDE_COMMON_DATA_SAMPLE_BUFFER_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ringside/common/data/dataset.h"

namespace ringside {

/// The memory of a batch. Used by one thread at a time.
class SampleBuffer {
 public:
  /// Reads these samples and makes the spans of `batch` views of them, valid until the next call.
  void Read(const Dataset& dataset, Split split, std::span<const std::size_t> indices,
            Batch& batch);

 private:
  std::vector<float> inputs_;
  std::vector<std::int64_t> integers_;
  std::vector<std::int64_t> labels_;
  std::vector<float> targets_;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_DATA_SAMPLE_BUFFER_H_

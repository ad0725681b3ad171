// A dataset of its own: points in the plane, labelled by their quadrant.
#ifndef RINGSIDE_CONSUMER_OWN_DATASET_H_
#define RINGSIDE_CONSUMER_OWN_DATASET_H_

#include <ringside/models/core/dataset_entry.h>

#include <memory>
#include <span>

class Quadrants : public ringside::Dataset {
 public:
  static constexpr std::size_t kTrain = 256;
  ringside::SampleShape shape() const override { return {1, 1, 2}; }
  int classes() const override { return 4; }
  std::size_t size(ringside::Split split) const override {
    return split == ringside::Split::kTrain ? kTrain : 64;
  }
  std::int64_t Read(ringside::Split, std::size_t index, std::span<float> out) const override {
    const bool right = index % 2 == 1;
    const bool upper = index / 2 % 2 == 1;
    const float far = 1 + static_cast<float>(index % 13) / 13;
    out[0] = right ? far : -far;
    out[1] = upper ? far : -far;
    return static_cast<std::int64_t>(right) + 2 * static_cast<std::int64_t>(upper);
  }
};

inline ringside::DatasetEntry OwnDataset() {
  ringside::DatasetEntry entry;
  entry.name = "own-data";
  entry.summary = "points in the plane, labelled by their quadrant";
  entry.shape = {1, 1, 2};
  entry.classes = 4;
  entry.train_samples = Quadrants::kTrain;
  entry.make = [](const ringside::DatasetOptions&) -> std::unique_ptr<ringside::Dataset> {
    return std::make_unique<Quadrants>();
  };
  return entry;
}

#endif  // RINGSIDE_CONSUMER_OWN_DATASET_H_

#ifndef RINGSIDE_COMMON_DATA_DATASET_H_
#define RINGSIDE_COMMON_DATA_DATASET_H_

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace ringside {

enum class Split { kTrain, kTest };

/// Shape of one sample: channels x height x width, row-major floats.
struct SampleShape {
  std::size_t channels = 1;
  std::size_t height = 1;
  std::size_t width = 1;
  /// How many of these dimensions, from the last one, a sample has. The others are 1.
  std::size_t dimensions = 3;
  std::size_t elements() const { return channels * height * width; }
  bool operator==(const SampleShape&) const = default;
};

/// Labelled samples in memory. Immutable after construction, so any thread may read them.
class Dataset {
 public:
  virtual ~Dataset() = default;
  virtual SampleShape shape() const = 0;
  virtual int classes() const = 0;
  /// Number of samples in a split.
  virtual std::size_t size(Split split) const = 0;
  /// > 0: the answer to a sample is so many numbers (regression). 0: it is one of `classes()`.
  virtual std::size_t targets() const { return 0; }
  /// Whether the inputs are whole numbers, such as words of a vocabulary.
  virtual bool integer_inputs() const { return false; }

  /// Writes sample `index` as `shape().elements()` floats, normalised as the dataset's
  /// documentation says; `out` is empty if inputs are integers. Returns its class, or 0 if it has
  /// none.
  virtual std::int64_t Read(Split split, std::size_t index, std::span<float> out) const = 0;
  /// Writes `shape().elements()` integers. Called only if `integer_inputs()`.
  virtual void ReadIntegers(Split /*split*/, std::size_t /*index*/,
                            std::span<std::int64_t> /*out*/) const {}
  /// Writes the `targets()` numbers of the answer.
  virtual void ReadTargets(Split /*split*/, std::size_t /*index*/, std::span<float> /*out*/) const {
  }
};

/// One worker's part of one step's global batch: a borrowed view that is valid until the loader's
/// next batch.
struct Batch {
  std::int64_t step = 0;           ///< Global step, 0-based; it continues over epochs.
  std::int64_t epoch = 0;          ///< 0-based.
  std::size_t samples = 0;         ///< On this worker; may be 0 in an uneven last batch.
  std::size_t global_samples = 0;  ///< Over all workers.
  /// The model multiplies the sum of the losses by this: 1/global_samples or 1/samples (see
  /// `Averaging`).
  float gradient_scale = 1;
  std::span<const float> inputs = {};           ///< samples x shape.elements()
  std::span<const std::int64_t> integers = {};  ///< The same, instead, if inputs are integers.
  std::span<const std::int64_t> labels = {};    ///< samples
  std::span<const float> targets = {};          ///< samples x Dataset::targets()
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_DATA_DATASET_H_

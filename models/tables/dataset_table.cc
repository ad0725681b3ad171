#include "ringside/models/tables/dataset_table.h"

#include <vector>

#include "ringside/models/data/cifar10.h"
#include "ringside/models/data/digits.h"
#include "ringside/models/data/mnist.h"
#include "ringside/models/data/npz.h"
#include "ringside/models/data/synthetic.h"

namespace ringside {
namespace {

std::vector<DatasetEntry> MakeTable() {
  return {
      {.name = "digits",
       .summary = "1,797 real handwritten digits of 8x8 pixels, built in",
       .shape = kDigitsShape,
       .classes = 10,
       .train_samples = kDigitsTrainSamples,
       .make = [](const DatasetOptions&) { return MakeDigits(); }},
      {.name = "mnist",
       .summary = "handwritten digits of 28x28 pixels, unpacked IDX files in --data-dir",
       .needs_directory = true,
       .shape = kMnistShape,
       .classes = 10,
       .make = [](const DatasetOptions& options) { return MakeMnist(options.directory); }},
      {.name = "fashion-mnist",
       .summary = "clothes of 28x28 pixels, unpacked IDX files in --data-dir",
       .needs_directory = true,
       .shape = kMnistShape,
       .classes = 10,
       .make = [](const DatasetOptions& options) { return MakeFashionMnist(options.directory); }},
      {.name = "cifar10",
       .summary = "colour images of 32x32 pixels, binary batches in --data-dir",
       .needs_directory = true,
       .shape = kCifarShape,
       .classes = 10,
       .train_samples = kCifarTrainSamples,
       .make = [](const DatasetOptions& options) { return MakeCifar10(options.directory); }},
      {.name = "synthetic",
       .summary = "noisy patterns with 784 inputs and 10 classes, made from the seed",
       .shape = kSyntheticShape,
       .classes = 10,
       .train_samples = kSyntheticTrainSamples,
       .make = [](const DatasetOptions& options) { return MakeSynthetic(options.seed); }},
      {.name = "npz:",
       .summary = "arrays x_train, y_train, x_test, y_test of a file of numpy.savez: npz:FILE",
       .takes_file = true,
       .make = [](const DatasetOptions& options) { return MakeNpz(options.file); }},
      {.name = "none",
       .summary = "no data at all, for profile models",
       .shape = kNoShape,
       .classes = 1,
       .train_samples = kNoDataSamples,
       .make = [](const DatasetOptions&) { return MakeNoData(); },
       .has_samples = false},
  };
}

}  // namespace

std::span<const DatasetEntry> DatasetTable() {
  static const std::vector<DatasetEntry> table = MakeTable();
  return table;
}

}  // namespace ringside

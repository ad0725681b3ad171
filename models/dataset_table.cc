#include "models/dataset_table.h"

#include <array>

#include "models/data/cifar10.h"
#include "models/data/digits.h"
#include "models/data/mnist.h"
#include "models/data/synthetic.h"

namespace ringside {
namespace {

constexpr std::array<DatasetEntry, 6> kTable{{
    {"digits", "1,797 real handwritten digits of 8x8 pixels, built in", false, kDigitsShape, 10,
     kDigitsTrainSamples, [](const DatasetOptions&) { return MakeDigits(); }},
    {"mnist", "handwritten digits of 28x28 pixels, unpacked IDX files in --data-dir", true,
     kMnistShape, 10, 0,
     [](const DatasetOptions& options) { return MakeMnist(options.directory); }},
    {"fashion-mnist", "clothes of 28x28 pixels, unpacked IDX files in --data-dir", true,
     kMnistShape, 10, 0,
     [](const DatasetOptions& options) { return MakeFashionMnist(options.directory); }},
    {"cifar10", "colour images of 32x32 pixels, binary batches in --data-dir", true, kCifarShape,
     10, kCifarTrainSamples,
     [](const DatasetOptions& options) { return MakeCifar10(options.directory); }},
    {"synthetic", "noisy patterns with 784 inputs and 10 classes, made from the seed", false,
     kSyntheticShape, 10, kSyntheticTrainSamples,
     [](const DatasetOptions& options) { return MakeSynthetic(options.seed); }},
    {"none", "no data at all, for profile models", false, kNoShape, 1, kNoDataSamples,
     [](const DatasetOptions&) { return MakeNoData(); }},
}};

}  // namespace

std::span<const DatasetEntry> DatasetTable() { return kTable; }

}  // namespace ringside

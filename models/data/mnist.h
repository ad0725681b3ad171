#ifndef RINGSIDE_MODELS_DATA_MNIST_H_
#define RINGSIDE_MODELS_DATA_MNIST_H_

#include <memory>
#include <string>

#include "ringside/common/data/dataset.h"

namespace ringside {

inline constexpr SampleShape kMnistShape{1, 28, 28};

/// MNIST (LeCun, Cortes, Burges) from the four IDX files of `directory`, unpacked, under their
/// original names: `train-images-idx3-ubyte`, `train-labels-idx1-ubyte`, `t10k-images-idx3-ubyte`,
/// `t10k-labels-idx1-ubyte`. 1 x 28 x 28, 10 classes, (p / 255 - 0.1307) / 0.3081.
/// Throws `DataError`.
std::unique_ptr<Dataset> MakeMnist(const std::string& directory);

/// Fashion-MNIST (Xiao, Rasul, Vollgraf, 2017): same files and shape, (p / 255 - 0.2860) / 0.3530.
std::unique_ptr<Dataset> MakeFashionMnist(const std::string& directory);

}  // namespace ringside

#endif  // RINGSIDE_MODELS_DATA_MNIST_H_

#include "ringside/models/data/mnist.h"

#include <filesystem>
#include <span>

#include "ringside/models/data/idx.h"
#include "ringside/models/data/image_dataset.h"

namespace ringside {
namespace {

ImageSplit ReadSplit(const std::string& directory, const std::string& prefix) {
  const std::filesystem::path folder(directory);
  return ReadIdxPair((folder / (prefix + "-images-idx3-ubyte")).string(),
                     (folder / (prefix + "-labels-idx1-ubyte")).string(), IdxExpectation{});
}

std::unique_ptr<Dataset> MakeIdxDataset(const std::string& directory, const ChannelNorm& norm) {
  return std::make_unique<ImageDataset>(kMnistShape, 10, std::span(&norm, 1),
                                        ReadSplit(directory, "train"),
                                        ReadSplit(directory, "t10k"));
}

}  // namespace

std::unique_ptr<Dataset> MakeMnist(const std::string& directory) {
  return MakeIdxDataset(directory, {.scale = 255, .mean = 0.1307, .deviation = 0.3081});
}

std::unique_ptr<Dataset> MakeFashionMnist(const std::string& directory) {
  return MakeIdxDataset(directory, {.scale = 255, .mean = 0.2860, .deviation = 0.3530});
}

}  // namespace ringside

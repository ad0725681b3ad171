#include "add_a_network.inc"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>

#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

constexpr SampleShape kMnist{.channels = 1, .height = 28, .width = 28};

TEST(AddANetworkTest, TheTensorsOfTheExampleAreThoseOfLeNet) {
  std::map<std::string, std::size_t> sizes;
  for (const TensorSpec& tensor : TensorsOf(LeNetNetwork({.input = kMnist, .classes = 10}))) {
    sizes[tensor.name] = tensor.elements;
  }
  EXPECT_EQ(sizes, (std::map<std::string, std::size_t>{{"conv1.weight", 6 * 25},
                                                       {"conv1.bias", 6},
                                                       {"conv2.weight", 16 * 6 * 25},
                                                       {"conv2.bias", 16},
                                                       {"linear1.weight", 16 * 7 * 7 * 120},
                                                       {"linear1.bias", 120},
                                                       {"linear2.weight", 120 * 84},
                                                       {"linear2.bias", 84},
                                                       {"linear3.weight", 84 * 10},
                                                       {"linear3.bias", 10}}));
}

TEST(AddANetworkTest, TheExampleIsAModel) {
  const ModelEntry model = NetworkModel(kLeNet, nullptr);
  EXPECT_EQ(model.name, "lenet");
  EXPECT_EQ(model.tensors({.input = kMnist, .classes = 10}).size(), 10U);
}

TEST(AddANetworkTest, TheExampleRefusesImagesThatAreTooSmall) {
  EXPECT_THROW(LeNetNetwork({.input = {.channels = 1, .height = 2, .width = 2}, .classes = 10}),
               ConfigError);
}

}  // namespace
}  // namespace ringside

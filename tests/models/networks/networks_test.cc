// Architectures as sizes, without libtorch.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "ringside/common/base/errors.h"
#include "ringside/models/networks/network_builder.h"
#include "ringside/models/networks/network_table.h"
#include "ringside/models/tables/model_table.h"

namespace ringside {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

std::vector<std::pair<std::string, std::size_t>> NamesAndSizes(const Network& network) {
  std::vector<std::pair<std::string, std::size_t>> pairs;
  for (const TensorSpec& tensor : TensorsOf(network))
    pairs.emplace_back(tensor.name, tensor.elements);
  return pairs;
}

NetworkBuilder Builder(const SampleShape& input) {
  return NetworkBuilder(ModelOptions{.input = input, .classes = 10});
}

template <typename Function>
std::string ErrorOf(Function function) {
  try {
    function();
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "";
}

TEST(TensorsOf, AreInBackwardOrder) {
  NetworkBuilder network = Builder({3, 8, 8});
  network.Conv("a", {.outputs = 5}).BatchNorm("b").Relu().MaxPool().Flatten().Logits("c");
  EXPECT_THAT(NamesAndSizes(network.Take()),
              ElementsAre(Pair("c.weight", 10 * 5 * 4 * 4), Pair("c.bias", 10), Pair("b.weight", 5),
                          Pair("b.bias", 5), Pair("a.weight", 5 * 3 * 3 * 3), Pair("a.bias", 5)));
}

TEST(TensorsOf, HaveAResidualLayersMainBranchReadFirst) {
  NetworkBuilder network = Builder({2, 8, 8});
  NetworkBuilder main = network.Branch();
  main.Conv("main", {.outputs = 4, .stride = 2, .bias = false});
  NetworkBuilder shortcut = network.Branch();
  shortcut.Conv("short", {.outputs = 4, .kernel = 1, .stride = 2, .bias = false});
  network.Residual(std::move(main), std::move(shortcut));
  EXPECT_THAT(NamesAndSizes(network.Take()),
              ElementsAre(Pair("short.weight", 8), Pair("main.weight", 72)));
}

TEST(NetworkBuilder, FollowsTheShapeOfASample) {
  NetworkBuilder network = Builder({3, 9, 6});
  EXPECT_EQ(network.Conv("a", {.outputs = 4}).shape(), (SampleShape{4, 9, 6}));
  EXPECT_EQ(network.Conv("b", {.outputs = 8, .stride = 2}).shape(), (SampleShape{8, 5, 3}));
  EXPECT_EQ(network.Conv("c", {.outputs = 8, .kernel = 1, .stride = 2}).shape(),
            (SampleShape{8, 3, 2}));
  EXPECT_EQ(network.MaxPool().shape(), (SampleShape{8, 1, 1}));
  EXPECT_EQ(Builder({3, 9, 6}).Flatten().shape(), (SampleShape{162, 1, 1}));
  EXPECT_EQ(Builder({3, 9, 6}).GlobalAveragePool().shape(), (SampleShape{3, 1, 1}));
  EXPECT_EQ(Builder({3, 9, 6}).Flatten().Linear("d", 7).shape(), (SampleShape{7, 1, 1}));
}

TEST(NetworkBuilder, RefusesALayerThatDoesNotFit) {
  EXPECT_THAT(ErrorOf([] { Builder({1, 2, 2}).Linear("a", 3); }), HasSubstr("'a'"));
  EXPECT_THAT(ErrorOf([] { Builder({1, 1, 1}).Linear("a", 0); }), HasSubstr("'a'"));
  EXPECT_THAT(ErrorOf([] {
                Builder({1, 2, 2}).Conv("b", {.outputs = 3, .kernel = 2});
              }),
              HasSubstr("'b'"));
  EXPECT_THAT(ErrorOf([] { Builder({1, 1, 4}).MaxPool(); }), HasSubstr("1 x 1 x 4"));
  NetworkBuilder network = Builder({1, 2, 2});
  NetworkBuilder wider = network.Branch();
  wider.Conv("c", {.outputs = 3});
  EXPECT_THAT(ErrorOf([&] { network.Residual(wider, network.Branch()); }),
              HasSubstr("3 x 2 x 2 and 1 x 2 x 2"));
  EXPECT_THAT(ErrorOf([] { Builder({0, 2, 2}); }), HasSubstr("inputs"));
  EXPECT_THAT(ErrorOf([] {
                NetworkBuilder(ModelOptions{.input = {1, 2, 2}, .classes = 0});
              }),
              HasSubstr("classes"));
}

TEST(NetworkTable, HasTheNetworksOfTheModelTable) {
  std::vector<std::string> expected;
  for (const ModelEntry& entry : ModelTable()) {
    if (!entry.traits.needs_libtorch || entry.traits.takes_file) continue;
    EXPECT_EQ(entry.make, nullptr) << entry.name;
    expected.push_back(entry.name);
  }
  std::vector<std::string> names;
  for (const NetworkEntry& entry : NetworkTable()) names.emplace_back(entry.name);
  EXPECT_EQ(names, expected);
}

TEST(NetworkTable, RefusesWhatNoNetworkCanServe) {
  for (const NetworkEntry& entry : NetworkTable()) {
    EXPECT_THROW(entry.describe({.input = {0, 0, 0}, .classes = 10}), ConfigError) << entry.name;
    EXPECT_THROW(entry.describe({.input = {1, 8, 8}, .classes = 0}), ConfigError) << entry.name;
  }
}

}  // namespace
}  // namespace ringside

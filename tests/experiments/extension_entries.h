#ifndef RINGSIDE_TESTS_EXPERIMENTS_EXTENSION_ENTRIES_H_
#define RINGSIDE_TESTS_EXPERIMENTS_EXTENSION_ENTRIES_H_

#include <memory>
#include <utility>

#include "ringside/experiments/spec/extensions.h"
#include "ringside/paramserver/transports/grpc/grpc_link.h"
#include "ringside/paramserver/transports/grpc/grpc_listener.h"
#include "ringside/ring/algorithms/ring_algorithms.h"
#include "ringside/ring/algorithms/tree_all_reduce.h"
#include "ringside/ring/collectives/link_collective_entry.h"
#include "ringside/ring/strategies/all_reduce_entry.h"
#include "tests/common/test_dataset.h"
#include "tests/common/test_model.h"

namespace ringside {

/// An option of a user's own strategy.
inline constexpr IntegerOption kLaps{.name = "laps",
                                     .placeholder = "N",
                                     .help = "own-strategy: how often it says hello",
                                     .default_value = 2,
                                     .least = 1};

inline TestModelOptions OwnModelOptions(const ModelOptions& options) {
  return {.inputs = options.input.elements(),
          .classes = static_cast<std::size_t>(options.classes),
          .seed = options.seed};
}

inline StrategyEntry OwnStrategy() {
  StrategyEntry entry = AllReduceEntry(LinkCollectiveEntry(kRingAlgorithm));
  entry.name = "own-strategy";
  entry.summary = "the ring, under a name of its own";
  entry.options.emplace_back(kLaps);
  entry.make = [make = entry.make](const StrategyContext& context) {
    (void)context.options.Get(kLaps);  // throws if the entry did not declare it
    return make(context);
  };
  return entry;
}

inline CollectiveEntry OwnCollective() {
  CollectiveEntry entry = LinkCollectiveEntry(kTreeAlgorithm);
  entry.name = "own-collective";
  entry.summary = "the tree, under a name of its own";
  return entry;
}

inline ConsistencyEntry OwnConsistency() {
  ConsistencyEntry entry;
  entry.name = "own-consistency";
  entry.summary = "servers that wait for all, under a name of their own";
  entry.make = [](const ServerContext& context) {
    return MakeSynchronous(context.workers, context.schedule);
  };
  return entry;
}

/// Sockets of this host, under a name of its own.
inline constexpr TransportEntry kOwnTransport{.name = "own-transport",
                                              .medium = "uds",
                                              .needs_one_host = true,
                                              .connect = ConnectGrpcOverUds,
                                              .listen = ListenGrpcOverUds};

inline ModelEntry OwnModel() {
  ModelEntry entry;
  entry.name = "own-model";
  entry.summary = "a perceptron in plain loops";
  entry.make = [](const ModelOptions& options) -> std::unique_ptr<Model> {
    return std::make_unique<TestModel>(OwnModelOptions(options));
  };
  entry.tensors = [](const ModelOptions& options) {
    const TestModel model(OwnModelOptions(options));
    return std::vector<TensorSpec>(model.Tensors().begin(), model.Tensors().end());
  };
  return entry;
}

inline DatasetEntry OwnDataset() {
  DatasetEntry entry;
  entry.name = "own-data";
  entry.summary = "made-up samples";
  entry.shape = {1, 1, 6};
  entry.classes = 3;
  entry.train_samples = 96;
  entry.make = [](const DatasetOptions&) -> std::unique_ptr<Dataset> {
    return std::make_unique<TestDataset>(96, 24);
  };
  return entry;
}

/// The extensions, with one entry of each kind.
inline Extensions OwnExtensions() {
  return {.strategies = {OwnStrategy()},
          .collectives = {OwnCollective()},
          .consistencies = {OwnConsistency()},
          .transports = {&kOwnTransport},
          .models = {OwnModel()},
          .datasets = {OwnDataset()}};
}

}  // namespace ringside

#endif  // RINGSIDE_TESTS_EXPERIMENTS_EXTENSION_ENTRIES_H_

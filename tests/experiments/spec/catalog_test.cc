#include "ringside/experiments/spec/catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "ringside/common/base/errors.h"
#include "ringside/common/codec/codec.h"
#include "ringside/experiments/spec/resolve/resolve.h"
#include "tests/experiments/extension_entries.h"
#include "tests/experiments/spec/spec_testing.h"

namespace ringside {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string Refusal(const Extensions& extensions) {
  try {
    const Catalog catalog(extensions);
  } catch (const ConfigError& error) {
    return error.what();
  }
  return "taken";
}

std::unique_ptr<Codec> NoCodec(const CodecOptions&, int) { return nullptr; }

StrategyEntry WithOption(const OptionDeclaration& option) {
  StrategyEntry entry = OwnStrategy();
  entry.options = {option};
  return entry;
}

TEST(Catalog, HasTheEntriesOfExtensionsAndWhatFollowsFromThem) {
  const Catalog catalog(OwnExtensions());
  for (const char* name : {"ring", "own-strategy", "own-collective", "own-consistency"}) {
    EXPECT_NE(catalog.FindStrategy(name), nullptr) << name;
  }
  EXPECT_NE(catalog.FindCollective("own-collective"), nullptr);
  EXPECT_NE(catalog.FindModel("own-model"), nullptr);
  EXPECT_NE(catalog.FindDataset("own-data"), nullptr);
  const StrategyEntry& servers = *catalog.FindStrategy("own-consistency");
  EXPECT_EQ(servers.traits.topology, Topology::kServers);
  EXPECT_TRUE(servers.Declares("ps-transport"));
  const RunSpec over = With(RunSpec(catalog), {{"ps-transport", "own-transport"}});
  EXPECT_EQ(servers.transport(over.options, 2, 1).name, "own-transport");
  EXPECT_EQ(catalog.FindStrategy("ps-sync")->transport(over.options, 2, 1).name, "own-transport");
  ASSERT_NE(catalog.FindKey("laps"), nullptr);
  EXPECT_EQ(catalog.FindKey("laps")->help, kLaps.help);
  EXPECT_TRUE(catalog.has_extensions());
  EXPECT_EQ(TestCatalog().FindKey("laps"), nullptr);
  EXPECT_FALSE(TestCatalog().has_extensions());
}

TEST(Catalog, RefusesTwoEntriesOfOneName) {
  StrategyEntry strategy = OwnStrategy();
  strategy.name = "ring";
  EXPECT_THAT(Refusal({.strategies = {strategy}}),
              AllOf(HasSubstr("'ring'"), HasSubstr("over Gloo's TCP transport"),
                    HasSubstr("under a name of its own")));
  ConsistencyEntry consistency = OwnConsistency();
  consistency.name = "own-strategy";
  EXPECT_THAT(Refusal({.strategies = {OwnStrategy()}, .consistencies = {consistency}}),
              HasSubstr("'own-strategy'"));
  ModelEntry model = OwnModel();
  model.name = "profile:vgg16";
  EXPECT_THAT(Refusal({.models = {model}}), HasSubstr("'profile:vgg16'"));
  static constexpr CodecEntry kOtherFp16{
      .name = "fp16", .summary = "not what it says", .make = NoCodec};
  EXPECT_THAT(Refusal({.codecs = {&kOtherFp16}}), HasSubstr("'fp16'"));
  static constexpr TransportEntry kOtherShm = [] {
    TransportEntry entry = kOwnTransport;
    entry.name = "shm";
    return entry;
  }();
  EXPECT_THAT(Refusal({.transports = {&kOtherShm}}), HasSubstr("'shm'"));
  DatasetEntry dataset = OwnDataset();
  dataset.name = "digits";
  EXPECT_THAT(Refusal({.datasets = {dataset}}), HasSubstr("'digits'"));
}

TEST(Catalog, ReadsTheNameOfACodecOfItsOwn) {
  static constexpr CodecEntry kOwnCodec{
      .name = "own-codec", .summary = "for a test", .make = NoCodec};
  const Catalog catalog({.codecs = {&kOwnCodec}});
  RunSpec spec(catalog);
  SetSpecKey(spec, "codec", "own-codec");
  EXPECT_EQ(spec.options.codec.entry, &kOwnCodec);
  RunSpec other(TestCatalog());
  EXPECT_THROW(SetSpecKey(other, "codec", "own-codec"), ConfigError);
}

TEST(Catalog, TheTransportsOfServersAreThoseOfTheProgram) {
  const auto message = [](const Catalog& catalog, const char* name) -> std::string {
    RunSpec spec(catalog);
    try {
      SetSpecKey(spec, "ps-transport", name);
    } catch (const ConfigError& error) {
      return error.what();
    }
    return "taken";
  };
  EXPECT_EQ(
      TestCatalog().FindKey("ps-transport")->help,
      "between worker and server: grpc (HTTP/2), tcp (plain frames), or uds and shm on one host");
  EXPECT_THAT(message(TestCatalog(), "own-transport"), HasSubstr("there are grpc, tcp, uds, shm"));
  const Catalog extended(OwnExtensions());
  EXPECT_EQ(message(extended, "own-transport"), "taken");
  EXPECT_THAT(
      message(extended, "own-transpor"),
      HasSubstr("(did you mean 'own-transport'?); there are grpc, tcp, uds, shm, own-transport"));
}

TEST(Catalog, TakesTheFactoryOfAModelThatItLacks) {
  ModelEntry model = OwnModel();
  model.name = "mlp";
  EXPECT_EQ(TestCatalog().FindModel("mlp")->make, nullptr);
  const Catalog catalog({.models = {model}});
  EXPECT_NE(catalog.FindModel("mlp")->make, nullptr);
  EXPECT_EQ(std::ranges::count(catalog.models(), "mlp", &ModelEntry::name), 1);
}

TEST(Catalog, RefusesOptionsThatMeanTwoThings) {
  EXPECT_EQ(Refusal({.strategies = {WithOption(IntegerOption{
                         .name = "staleness", .placeholder = "S", .help = "something else"})}}),
            "strategies 'ps-ssp' and 'own-strategy' declare the option 'staleness' differently; "
            "rename one of the two");
  EXPECT_THAT(Refusal({.strategies = {WithOption(SwitchOption{.name = "codec", .help = "?"})}}),
              HasSubstr("'ring' and 'own-strategy' declare the option 'codec' differently"));
  EXPECT_EQ(Refusal({.strategies = {WithOption(
                         IntegerOption{.name = "workers", .placeholder = "", .help = ""})}}),
            "strategy 'own-strategy' declares the option 'workers', but every run has a key "
            "'workers'; rename the option");
  EXPECT_THAT(Refusal({.strategies = {WithOption(
                           RealOption{.name = "learning-rate", .placeholder = "", .help = ""})}}),
              HasSubstr("every run has a key 'lr'"))
      << "as spec.json calls it";
  EXPECT_EQ(
      Refusal(
          {.strategies = {WithOption(IntegerOption{
               .name = "laps", .placeholder = "", .help = "", .default_value = 0, .least = 1})}}),
      "strategy 'own-strategy', the default of its option 'laps': 0 is out of range; give a number "
      "that is 1 or more");
  EXPECT_EQ(
      Refusal({.strategies = {WithOption(SwitchOption{.name = "", .help = "says hello"})}}),
      "strategy 'own-strategy' declares an option that has no name (its help: \"says hello\")");
}

TEST(Catalog, RefusesEntriesThatContradictThemselves) {
  StrategyEntry entry = OwnStrategy();
  entry.traits.servers = ServerPlacement::kAsAsked;
  EXPECT_THAT(Refusal({.strategies = {entry}}), HasSubstr("make_server disagree"));
  entry = OwnStrategy();
  entry.make = nullptr;
  EXPECT_EQ(Refusal({.strategies = {entry}}),
            "strategy 'own-strategy' has no function 'make'; set it");
}

TEST(Catalog, RefusesEntriesThatLackWhatEveryRunCalls) {
  StrategyEntry strategy = OwnStrategy();
  strategy.bound = nullptr;
  EXPECT_EQ(Refusal({.strategies = {strategy}}),
            "strategy 'own-strategy' has no function 'bound'; set it");
  CollectiveEntry collective = OwnCollective();
  collective.make = nullptr;
  EXPECT_EQ(Refusal({.collectives = {collective}}),
            "collective 'own-collective' has no function 'make'; set it");
  collective = OwnCollective();
  collective.bound = nullptr;
  EXPECT_EQ(Refusal({.collectives = {collective}}),
            "collective 'own-collective' has no function 'bound'; set it");
  collective = OwnCollective();
  collective.why_not_encoded = nullptr;
  EXPECT_EQ(Refusal({.collectives = {collective}}),
            "collective 'own-collective' has no function 'why_not_encoded'; set it");
  ConsistencyEntry consistency = OwnConsistency();
  consistency.make = nullptr;
  EXPECT_EQ(Refusal({.consistencies = {consistency}}),
            "consistency 'own-consistency' has no function 'make'; set it");
  DatasetEntry dataset = OwnDataset();
  dataset.make = nullptr;
  EXPECT_EQ(Refusal({.datasets = {dataset}}), "dataset 'own-data' has no function 'make'; set it");
  ModelEntry model = OwnModel();
  model.tensors = nullptr;
  EXPECT_EQ(Refusal({.models = {model}}), "model 'own-model' has no function 'tensors'; set it");
  model = OwnModel();
  model.make = nullptr;
  EXPECT_EQ(Refusal({.models = {model}}), "model 'own-model' has no function 'make'; set it");
  model.traits.needs_libtorch = true;
  EXPECT_EQ(Refusal({.models = {model}}), "taken") << "as in a program that does not load libtorch";
}

TEST(Catalog, RefusesCodecsThatCannotWork) {
  EXPECT_EQ(Refusal({.codecs = {nullptr}}),
            "a codec of an extension is a null pointer; give the address of its entry");
  static constexpr CodecEntry kNoMake{.name = "own-codec", .summary = ""};
  EXPECT_EQ(Refusal({.codecs = {&kNoMake}}), "codec 'own-codec' has no function 'make'; set it");
  static constexpr CodecEntry kFactors{
      .name = "own-codec", .summary = "", .scheme = AggregationScheme::kFactors, .make = NoCodec};
  EXPECT_THAT(Refusal({.codecs = {&kFactors}}), HasSubstr("'own-codec' has a scheme that only"));
}

TEST(Catalog, RefusesEntriesWithoutAName) {
  const auto nameless = [](auto entry) {
    entry.name = "";
    entry.summary = "it has none";
    return entry;
  };
  const auto refusal = [](const char* kind) {
    return "a " + std::string(kind) + " has no name (its summary: \"it has none\")";
  };
  EXPECT_EQ(Refusal({.strategies = {nameless(OwnStrategy())}}), refusal("strategy"));
  EXPECT_EQ(Refusal({.collectives = {nameless(OwnCollective())}}), refusal("collective"));
  EXPECT_EQ(Refusal({.consistencies = {nameless(OwnConsistency())}}), refusal("consistency"));
  EXPECT_EQ(Refusal({.models = {nameless(OwnModel())}}), refusal("model"));
  EXPECT_EQ(Refusal({.datasets = {nameless(OwnDataset())}}), refusal("dataset"));
  static constexpr CodecEntry kNameless{.name = "", .summary = "it has none", .make = NoCodec};
  EXPECT_EQ(Refusal({.codecs = {&kNameless}}), refusal("codec"));
}

TEST(Catalog, TellsStrategiesApartByTraits) {
  const auto traits = [](const char* name) { return TestCatalog().FindStrategy(name)->traits; };
  EXPECT_EQ(traits("ring").topology, Topology::kRing);
  EXPECT_EQ(traits("diloco").topology, Topology::kRing);
  EXPECT_EQ(traits("diloco").agreement, Agreement::kPeriodic);
  EXPECT_EQ(traits("diloco").averaging(), Averaging::kLocalBatch);
  EXPECT_EQ(traits("hierarchical").topology, Topology::kRingOfHosts);
  EXPECT_EQ(traits("mpi").topology, Topology::kAllReduce);
  EXPECT_EQ(traits("mpi").ranks, Ranks::kMpiProcesses);
  EXPECT_EQ(traits("shm").memory, MemoryKind::kShared);
  EXPECT_EQ(traits("ps-backup").agreement, Agreement::kRelaxed);
  EXPECT_EQ(traits("ps-async").agreement, Agreement::kAsynchronous);
  EXPECT_EQ(traits("mixed").servers, ServerPlacement::kEveryWorker);
  EXPECT_FALSE(traits("auto").repeatable);
  EXPECT_FALSE(TestCatalog().FindStrategy("nccl")->passes_links_by.empty());
}

// As earlier versions named their bundles: `--resume` finds them by these.
TEST(Catalog, RefusalsNameTheModelsThatHaveATrait) {
  Extensions extensions = OwnExtensions();
  extensions.models.front().traits.takes_widths = true;
  const Catalog catalog(extensions);
  try {
    Resolve(With(RunSpec(catalog), {{"strategy", "ring"}, {"model", "cnn"}, {"hidden", "5"}}));
    FAIL() << "cnn has no hidden widths";
  } catch (const SpecKeyError& error) {
    EXPECT_THAT(error.what(),
                HasSubstr("only mlp, cuda:mlp, own-model have hidden widths, not cnn"));
  }
}

TEST(RunIds, AreThoseOfEarlierVersions) {
  const auto id = [](const Catalog& catalog, const std::vector<SpecChange>& changes) {
    RunSpec spec(catalog);
    spec.model = "profile:resnet50";
    spec.steps = 10;
    return RunId(Resolve(With(spec, changes)));
  };
  const std::vector<SpecChange> servers{
      {"strategy", "ps-ssp"}, {"staleness", "7"}, {"ps-transport", "uds"}};
  EXPECT_EQ(id(TestCatalog(), {}), "ca58d1fb3965561b");
  EXPECT_EQ(id(TestCatalog(), servers), "e4798bf998811a1d");
  EXPECT_EQ(id(TestCatalog(), {{"strategy", "diloco"}, {"sync-every", "4"}, {"outer-lr", "0.5"}}),
            "814f32cbd2868afb");
  EXPECT_EQ(id(TestCatalog(), {{"strategy", "ps-sync"},
                               {"codec", "topk:0.01"},
                               {"schedule", "priority"},
                               {"servers", "2"}}),
            "330857bf1b41d079");
  const Catalog extended(OwnExtensions());
  EXPECT_EQ(id(extended, servers), "e4798bf998811a1d") << "an option that it does not use";
  EXPECT_NE(id(extended, {{"strategy", "own-strategy"}, {"laps", "3"}}),
            id(extended, {{"strategy", "own-strategy"}}));
}

TEST(RunSpecJson, HasTheOptionsOfExtensions) {
  const Catalog extended(OwnExtensions());
  const RunSpec spec = With(RunSpec(extended), {{"strategy", "own-strategy"}, {"laps", "3"}});
  const nlohmann::json written = spec;
  EXPECT_EQ(written.at("laps"), 3);
  EXPECT_EQ(ReadRunSpec(written, extended).options.Get(kLaps), 3);
  EXPECT_THROW(ReadRunSpec(written, TestCatalog()), SpecKeyError);
  EXPECT_THROW((void)nlohmann::json(RunSpec()), InternalError) << "it is of no catalog";
}

TEST(Catalog, ANameMayBeFollowedByAFile) {
  const ModelEntry* model = TestCatalog().FindModel("script:some/net.pt");
  ASSERT_NE(model, nullptr);
  EXPECT_EQ(model->name, "script:");
  EXPECT_EQ(FileOf("script:some/net.pt", model->name), "some/net.pt");
  EXPECT_EQ(TestCatalog().FindModel("script:"), nullptr);
  EXPECT_EQ(TestCatalog().FindModel("mlp:some/net.pt"), nullptr);
  EXPECT_EQ(FileOf("mlp", "mlp"), "");
  ASSERT_NE(TestCatalog().FindDataset("npz:a"), nullptr);
  EXPECT_EQ(TestCatalog().FindDataset("npz:"), nullptr);
}

}  // namespace
}  // namespace ringside

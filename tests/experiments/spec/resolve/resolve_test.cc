// Tests how a spec is completed, and which specs are refused before a run starts.
#include "ringside/experiments/spec/resolve/resolve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/spec/resolve/availability.h"
#include "ringside/experiments/spec/server_layout.h"
#include "ringside/experiments/spec/spec_keys.h"
#include "ringside/experiments/system/environment/build_info.h"
#include "tests/common/temporary_directory.h"
#include "tests/experiments/extension_entries.h"
#include "tests/experiments/spec/spec_testing.h"
#include "tests/experiments/test_catalog.h"

namespace ringside {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

TEST(Resolve, FillsInWhatWasLeftOpen) {
  RunSpec spec = Resolve(ProfileOfTenSteps());
  EXPECT_EQ(spec.global_batch, 64);
  EXPECT_EQ(spec.ResolvedGlobalBatch(), 64);
  EXPECT_EQ(spec.servers, 0);
  EXPECT_EQ(spec.data, "none");
  EXPECT_EQ(Resolve(With(ProfileOfTenSteps(), {{"strategy", "ps-sync"}})).servers, 1);
  spec = Resolve(With(ProfileOfTenSteps(),
                      {{"strategy", "ps-sync"}, {"servers", "colocated"}, {"workers", "3"}}));
  EXPECT_EQ(spec.servers, 3);
  EXPECT_TRUE(spec.colocated);
  spec = Resolve(With(ProfileOfTenSteps(), {{"batch-per-worker", "8"}, {"workers", "3"}}));
  EXPECT_EQ(spec.global_batch, 0);
  EXPECT_EQ(spec.ResolvedGlobalBatch(), 24);
}

TEST(Resolve, WhoSaysWhichStepsOrWhereWantsATimeline) {
  EXPECT_FALSE(Resolve(ProfileOfTenSteps()).timeline);
  EXPECT_TRUE(Resolve(With(ProfileOfTenSteps(), {{"timeline-steps", "1:2"}})).timeline);
  EXPECT_TRUE(Resolve(With(ProfileOfTenSteps(), {{"timeline-filename", "here.json"}})).timeline);
}

// Each worker finds out what its host has.
TEST(Resolve, OtherHostsAreNotAskedForBackendsAndDevices) {
  Extensions extensions = OwnExtensions();
  extensions.strategies[0].unavailable = [] { return std::string("no GPU is here"); };
  extensions.models[0].unavailable = extensions.strategies[0].unavailable;
  const Catalog catalog(extensions);
  RunSpec ring(catalog);
  ring.strategy = "own-strategy";
  ring.model = "profile:resnet50";
  ring.steps = 10;
  EXPECT_THROW(Resolve(ring), MissingBackendError);
  EXPECT_THROW(ResolveStrategy(ring), MissingBackendError);
  EXPECT_EQ(Resolve(ring, RunsOn::kOtherHosts).global_batch, 64);
  EXPECT_EQ(ResolveStrategy(ring, RunsOn::kOtherHosts).workers, ring.workers);
  RunSpec model(catalog);
  model.model = "own-model";
  model.data = "own-data";
  EXPECT_THROW(Resolve(model), MissingBackendError);
  EXPECT_EQ(Resolve(model, RunsOn::kOtherHosts).data, "own-data");
}

TEST(Resolve, LaysServersOut) {
  const auto layout = [](const char* strategy, const char* servers) {
    const RunSpec spec = Resolve(With(
        ProfileOfTenSteps(), {{"strategy", strategy}, {"servers", servers}, {"workers", "3"}}));
    const ServerLayout laid = LayoutServers(spec);
    return std::pair(laid.dedicated, laid.colocated);
  };
  EXPECT_EQ(layout("ring", "0"), std::pair(0, 0));
  EXPECT_EQ(layout("ps-sync", "2"), std::pair(2, 0));
  EXPECT_EQ(layout("ps-sync", "colocated"), std::pair(0, 3));
  EXPECT_EQ(layout("mixed", "0"), std::pair(0, 3));
  EXPECT_EQ(layout("mixed", "2"), std::pair(2, 3));
  EXPECT_EQ(layout("mixed", "3"), std::pair(3, 0));
}

TEST(Resolve, ComparesReplicasOnlyWhereTheyMustBeEqual) {
  const auto with = [](const char* strategy, const char* steps) {
    return With(ProfileOfTenSteps(), {{"strategy", strategy}, {"check-replicas", steps}});
  };
  EXPECT_EQ(Resolve(with("ring", "5")).check_replicas, 5);
  EXPECT_EQ(Resolve(with("ps-sync", "5")).check_replicas, 5);
  EXPECT_NO_THROW(Resolve(with("ps-async", "0")));
  for (const char* strategy : {"none", "local-sgd", "ps-async", "ps-backup"}) {
    try {
      Resolve(with(strategy, "5"));
      FAIL() << strategy;
    } catch (const ConfigError& error) {
      EXPECT_THAT(error.what(), HasSubstr("take a synchronous strategy")) << strategy;
    }
  }
  EXPECT_THROW(Resolve(with("ring", "-1")), ConfigError);
}

TEST(Resolve, IsIdempotent) {
  const RunSpec once =
      Resolve(With(ProfileOfTenSteps(), {{"strategy", "ps-async"}, {"servers", "2"}}));
  EXPECT_EQ(json(Resolve(once)), json(once));
}

struct Refusal {
  std::vector<SpecChange> changes;
  std::string key;
  std::string reason;
};

void PrintTo(const Refusal& refusal, std::ostream* out) {
  for (const SpecChange& change : refusal.changes) *out << change.key << '=' << change.text << ' ';
}

class ResolveRefuses : public ::testing::TestWithParam<Refusal> {};

TEST_P(ResolveRefuses, NamingTheKey) {
  try {
    (void)Resolve(With(ProfileOfTenSteps(), GetParam().changes));
    FAIL() << "taken";
  } catch (const SpecKeyError& error) {
    EXPECT_EQ(error.key(), GetParam().key);
    EXPECT_THAT(error.reason(), HasSubstr(GetParam().reason));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Table, ResolveRefuses,
    ::testing::Values(
        Refusal{{{"strategy", "rng"}}, "strategy", "did you mean 'ring'"},
        Refusal{{{"model", "profile:resnet5"}}, "model", "did you mean 'profile:resnet50'"},
        Refusal{{{"model", "mlp"}, {"data", "digitz"}}, "data", "did you mean 'digits'"},
        Refusal{{{"workers", "0"}}, "workers", "at least 1"},
        Refusal{{{"workers", "-3"}}, "workers", "at least 1"},
        Refusal{{{"hosts", "-1"}}, "hosts", "cannot be"},
        Refusal{{{"hosts", "3"}}, "hosts", "at most one per worker"},
        Refusal{{{"strategy", "shm"}, {"hosts", "2"}}, "hosts", "take hierarchical"},
        Refusal{
            {{"servers", "1"}}, "servers", "has no servers; leave servers away or take ps-sync"},
        Refusal{{{"servers", "colocated"}}, "servers", "has no servers"},
        Refusal{{{"strategy", "ps-sync"}, {"servers", "-1"}}, "servers", "cannot be"},
        Refusal{{{"strategy", "ps-sync"}, {"servers", "9"}}, "servers", "at most 8"},
        Refusal{
            {{"strategy", "ps-sync"}, {"servers", "8"}, {"bucket-mb", "1000"}}, "servers", "idle"},
        Refusal{{{"strategy", "ps-sync"}, {"servers", "8"}, {"model", "mlp"}, {"hidden", "16"}},
                "servers",
                "8 servers for 1 buckets, or slices of them, would leave 7 idle"},
        Refusal{{{"strategy", "ps-sync"}, {"servers", "3"}, {"model", "cnn"}, {"bucket-mb", "99"}},
                "servers",
                "idle"},
        Refusal{{{"strategy", "ps-sync"},
                 {"servers", "3"},
                 {"model", "resnet18"},
                 {"data", "synthetic"},
                 {"bucket-mb", "99"}},
                "servers",
                "3 servers for 2 buckets"},
        Refusal{{{"strategy", "ps-sync"}, {"servers", "colocated:3"}}, "servers", "2 workers"},
        Refusal{{{"strategy", "mixed"}, {"servers", "colocated"}},
                "servers",
                "already has a server in every worker"},
        Refusal{{{"global-batch", "1"}}, "global-batch", "fewer than 2 workers"},
        Refusal{{{"global-batch", "-1"}}, "global-batch", "cannot be"},
        Refusal{{{"batch-per-worker", "-1"}}, "batch-per-worker", "cannot be"},
        Refusal{{{"global-batch", "8"}, {"batch-per-worker", "4"}}, "batch-per-worker", "give one"},
        Refusal{{{"model", "mlp"}, {"global-batch", "1438"}},
                "global-batch",
                "1438 samples a step are more than the 1437 that 'digits' has"},
        Refusal{{{"model", "mlp"}, {"batch-per-worker", "719"}},
                "batch-per-worker",
                "719 samples for each of 2 workers are more than the 1437"},
        Refusal{{{"model", "mlp"}, {"batch-per-worker", "9000000000000000000"}},
                "batch-per-worker",
                "more than the 1437"},
        Refusal{{{"model", "mlp"}, {"data", "synthetic"}, {"global-batch", "8193"}},
                "global-batch",
                "8192"},
        Refusal{{{"global-batch", "1000001"}}, "global-batch", "1000000"},
        Refusal{{{"data", "digits"}}, "data", "no samples"},
        Refusal{{{"model", "mlp"}, {"data", "none"}}, "data", "needs samples"},
        Refusal{{{"model", "mlp"}, {"data", "mnist"}}, "data-dir", "name their directory"},
        Refusal{{{"model", "mlp"}, {"data", "mnist"}, {"data-dir", "/nowhere/at/all"}},
                "data-dir",
                "not a directory"},
        Refusal{{{"model", "mlp"}, {"compute-ms", "5"}}, "compute-ms", "really computes"},
        Refusal{{{"compute-ms", "-5"}}, "compute-ms", "cannot be -5 ms"},
        Refusal{{{"hidden", "5"}}, "hidden", "only mlp, cuda:mlp have hidden widths, not"},
        Refusal{{{"model", "mlp"}, {"hidden", "5,0"}}, "hidden", "at least 1"},
        Refusal{{{"steps", "-1"}}, "steps", "cannot be trained"},
        Refusal{{{"steps", "0"}}, "steps", "give steps"},
        Refusal{{{"model", "mlp"}, {"steps", "0"}, {"epochs", "0"}}, "epochs", "at least 1"},
        Refusal{{{"lr", "0"}}, "lr", "above 0"},
        Refusal{{{"momentum", "1"}}, "momentum", "outside"},
        Refusal{{{"optimizer", "adam"}, {"momentum", "0.9"}}, "momentum", "belongs to sgd"},
        Refusal{{{"nesterov", "true"}}, "nesterov", "needs a momentum"},
        Refusal{{{"weight-decay", "-1"}}, "weight-decay", "negative"},
        Refusal{{{"beta2", "1"}}, "beta2", "outside"},
        Refusal{{{"epsilon", "0"}}, "epsilon", "above 0"},
        Refusal{{{"schedule-lr", "cosin"}}, "schedule-lr", "did you mean 'cosine'"},
        Refusal{{{"schedule-lr", "step"}}, "lr-step-every", "needs"},
        Refusal{{{"lr-gamma", "0"}}, "lr-gamma", "outside"},
        Refusal{{{"lr-warmup-steps", "-1"}}, "lr-warmup-steps", "negative"},
        Refusal{{{"threads", "0"}}, "threads", "at least 1"},
        Refusal{{{"eval-every", "-1"}}, "eval-every", "negative"},
        Refusal{{{"link", "-1"}}, "link", "negative"},
        Refusal{{{"latency", "-1"}}, "latency", "negative"},
        Refusal{{{"timeout", "0"}}, "timeout", "no time"},
        Refusal{{{"timeout", "1e300"}}, "timeout", "are more than"},
        Refusal{{{"staleness", "5"}}, "staleness", "strategy 'ring' does not read it"},
        Refusal{{{"strategy", "ps-ssp"}, {"staleness", "-1"}},
                "staleness",
                "0 or more (0 waits for all workers)"},
        Refusal{{{"strategy", "ps-backup"}, {"backups", "-1"}},
                "backups",
                "0 or more (0 waits for every push)"},
        Refusal{{{"strategy", "ps-backup"}, {"backups", "2"}}, "backups", "give at most 1"},
        Refusal{
            {{"strategy", "ps-sync"}, {"staleness-lr", "true"}}, "staleness-lr", "ps-async can"},
        Refusal{{{"strategy", "ps-async"}, {"server-update", "off"}}, "server-update", "ps-sync"},
        Refusal{{{"ps-transport", "uds"}}, "ps-transport", "does not read it"},
        Refusal{{{"ps-transport", "uds"}, {"hosts", "2"}}, "ps-transport", "does not read it"},
        Refusal{{{"strategy", "ps-sync"}, {"ps-transport", "shm"}, {"hosts", "2"}},
                "ps-transport",
                "there are 2 hosts; uds and shm need workers and servers on one host"},
        Refusal{{{"strategy", "mixed"}, {"ps-transport", "uds"}, {"hosts", "2"}},
                "ps-transport",
                "there are 2 hosts; uds and shm need workers and servers on one host"},
        Refusal{{{"nccl-algorithm", "tree"}}, "nccl-algorithm", "does not read it"},
        Refusal{{{"strategy", "none"}, {"codec", "fp16"}},
                "codec",
                "does not read it (every worker trains alone: no gradient travels); ring"},
        Refusal{{{"strategy", "none"}, {"schedule", "priority"}}, "schedule", "no bucket is sent"},
        Refusal{{{"strategy", "local-sgd"}, {"codec", "fp16"}}, "codec", "averaged as fp32"},
        Refusal{{{"strategy", "diloco"}, {"schedule", "priority"}}, "schedule", "almost nothing"},
        Refusal{{{"strategy", "diloco"}, {"error-feedback", "off"}},
                "error-feedback",
                "no gradient of a step travels"},
        Refusal{{{"staleness", "-1"}}, "staleness", "no strategy takes this value"},
        Refusal{{{"error-feedback", "on"}}, "error-feedback", "fp32 loses nothing"},
        Refusal{{{"strategy", "recursive-doubling"}, {"codec", "int8"}}, "codec", "tree"},
        Refusal{{{"strategy", "mpi"}, {"codec", "int8"}}, "codec", "take topk"},
        Refusal{{{"strategy", "hierarchical"}, {"nccl-algorithm", "tree"}},
                "nccl-algorithm",
                "host-sum nccl alone"},
        Refusal{{{"host-sum", "nccl"}}, "host-sum", "hierarchical can"},
        Refusal{{{"strategy", "shm"}, {"codec", "fp16"}}, "codec", "nothing travels"},
        Refusal{{{"strategy", "shm"}, {"schedule", "priority"}}, "schedule", "over a link"},
        Refusal{{{"strategy", "ps-sync"}, {"codec", "powersgd:4"}}, "codec", "two rounds"},
        Refusal{{{"strategy", "ps-ssp"}, {"error-feedback", "on"}}, "error-feedback", "fp32"},
        Refusal{{{"straggler", "kind=permanent,factor=2"}}, "straggler", "give compute-ms"},
        Refusal{{{"compute-ms", "5"}, {"straggler", "kind=permanent,factor=2,worker=2"}},
                "straggler",
                "no worker 2 among 2"},
        Refusal{{{"resume", "/no/such/checkpoint"}}, "resume", "no checkpoint"},
        Refusal{{{"loss", "mse"}}, "loss", "has its own; only script: takes a loss"},
        Refusal{{{"model", "script:"}}, "model", "script: needs a file, as in script:net.pt"},
        Refusal{{{"model", "script"}}, "model", "did you mean 'script:'"},
        Refusal{
            {{"model", "mlp"}, {"data", "npz:"}}, "data", "npz: needs a file, as in npz:data.npz"},
        Refusal{{{"model", "script:/no/such.pt"}}, "model", "there is no file '/no/such.pt'"},
        Refusal{{{"model", "script:/dev/null"}}, "model", "there is no file '/dev/null'"},
        Refusal{{{"model", "mlp"}, {"data", "npz:/no/such.npz"}},
                "data",
                "there is no file '/no/such.npz'"},
        Refusal{{{"model", "program"}}, "model", "give the program"},
        Refusal{{{"program", "cat"}}, "model", "the program is the model; omit model"},
        Refusal{{{"model", "mlp"}, {"program", "no-such-program x"}},
                "program",
                "no program 'no-such-program' in PATH"},
        Refusal{{{"model", "mlp"}, {"program", "./no-such-program"}},
                "program",
                "no program './no-such-program'"},
        Refusal{{{"model", "mlp"}, {"program", "''"}}, "program", "first word is empty"},
        Refusal{{{"model", "mlp"}, {"program", "cat"}, {"data", "digits"}}, "data", "reads no"},
        Refusal{{{"model", "mlp"}, {"program", "cat"}, {"lr", "0.5"}}, "lr", "decides"},
        Refusal{{{"model", "mlp"}, {"program", "cat"}, {"epochs", "3"}}, "epochs", "decides"},
        Refusal{{{"model", "mlp"}, {"program", "cat"}, {"weight-decay", "0.1"}},
                "weight-decay",
                "decides its optimizer"},
        Refusal{{{"model", "mlp"}, {"program", "cat"}, {"lr-warmup-steps", "5"}},
                "lr-warmup-steps",
                "decides its learning rate"},
        Refusal{{{"model", "mlp"}, {"program", "cat"}, {"keep", "5"}}, "keep", "checkpoints"},
        Refusal{
            {{"model", "mlp"}, {"program", "cat"}, {"optimizer", "adam"}}, "optimizer", "decides"},
        Refusal{{{"model", "mlp"}, {"program", "cat"}, {"global-batch", "8"}},
                "global-batch",
                "decides"},
        Refusal{{{"model", "mlp"}, {"program", "cat"}, {"checkpoint-every", "8"}},
                "checkpoint-every",
                "the program decides its checkpoints"},
        Refusal{{{"model", "mlp"}, {"program", "cat"}, {"network", "1Gbps"}, {"dilation", "2"}},
                "dilation",
                "really computes"}));

TEST(Resolve, SaysThatAProgramIsNotExecutable) {
  const TemporaryDirectory folder;
  const auto refusal = [&](const std::string& name) -> std::string {
    std::ofstream(folder.Path(name)) << "print(1)";
    RunSpec spec(TestCatalog());
    spec.program = {folder.Path(name)};
    try {
      (void)Resolve(spec);
    } catch (const SpecKeyError& error) {
      return error.reason();
    }
    return "taken";
  };
  const std::string script = folder.Path("p.py");
  EXPECT_EQ(refusal("p.py"),
            "'" + script + "' is not executable; give its interpreter: python3 " + script);
  EXPECT_EQ(refusal("p"), "'" + folder.Path("p") + "' is not executable");
}

TEST(Resolve, AProgramIsNamed) {
  for (const char* text : {"", " "}) {
    try {
      (void)With(ProfileOfTenSteps(), {{"program", text}});
      ADD_FAILURE() << "taken";
    } catch (const SpecKeyError& error) {
      EXPECT_STREQ(error.what(), "program: it names no program");
    }
  }
}

TEST(Resolve, AProgramIsTheModel) {
  RunSpec spec(TestCatalog());
  SetSpecKey(spec, "program", "cat 'a b'");
  SetSpecKey(spec, "strategy", "ps-sync");
  SetSpecKey(spec, "servers", "2");
  const RunSpec resolved = Resolve(spec);
  EXPECT_EQ(resolved.model, "program");
  EXPECT_EQ(resolved.data, "none");
  EXPECT_EQ(resolved.program, (std::vector<std::string>{"cat", "a b"}));
  EXPECT_TRUE(EndsWithItsProgram(resolved));
  EXPECT_EQ(json(Resolve(resolved)), json(resolved)) << "as a bundle's spec is";
  EXPECT_EQ(json(resolved)["program"], json({"cat", "a b"}));
  EXPECT_EQ(ReadRunSpec(json(resolved), TestCatalog()).program, resolved.program);
  EXPECT_FALSE(json(Resolve(ProfileOfTenSteps())).contains("program"));
  spec.steps = 5;
  EXPECT_FALSE(EndsWithItsProgram(Resolve(spec)));
}

TEST(RefuseLargeBatch, TakesAsMuchAsThereIs) {
  RunSpec spec = With(ProfileOfTenSteps(), {{"global-batch", "1437"}});
  EXPECT_NO_THROW(RefuseLargeBatch(spec, 1437));
  EXPECT_THROW(RefuseLargeBatch(spec, 1436), SpecKeyError);
  spec = With(ProfileOfTenSteps(), {{"batch-per-worker", "5"}, {"workers", "3"}});
  EXPECT_NO_THROW(RefuseLargeBatch(spec, 15));
  EXPECT_THROW(RefuseLargeBatch(spec, 14), SpecKeyError);
}

std::string ReasonAgainst(const std::vector<SpecChange>& changes) {
  try {
    (void)Resolve(With(ProfileOfTenSteps(), changes));
  } catch (const SpecKeyError& error) {
    return error.reason();
  }
  return "taken";
}

TEST(Resolve, NamesOnlyStrategiesThatTakeTheValue) {
  const std::string fp16 = ReasonAgainst({{"strategy", "none"}, {"codec", "fp16"}});
  EXPECT_THAT(fp16, HasSubstr("; ring, halving-doubling, recursive-doubling, tree, hierarchical, "
                              "auto, ps-sync"));
  const std::string int8 = ReasonAgainst({{"strategy", "shm"}, {"codec", "int8"}});
  EXPECT_THAT(int8, HasSubstr("; ring, halving-doubling, tree, hierarchical, auto, ps-sync"));
  const std::string topk = ReasonAgainst({{"strategy", "none"}, {"codec", "topk:0.1"}});
  EXPECT_THAT(topk, HasSubstr("auto, mpi, nccl, ps-sync"));
}

TEST(Resolve, ABackendThatIsMissingIsNoWrongValue) {
  const StrategyEntry& nccl = *TestCatalog().FindStrategy("nccl");
  if (WhyUnavailable(nccl).empty()) GTEST_SKIP() << "NCCL can run here";
  const RunSpec spec =
      With(ProfileOfTenSteps(), {{"strategy", "hierarchical"}, {"host-sum", "nccl"}});
  try {
    (void)Resolve(spec);
    FAIL() << "taken";
  } catch (const MissingBackendError& error) {
    EXPECT_THAT(error.what(), HasSubstr("host-sum: nccl: "));
    EXPECT_THAT(error.what(), HasSubstr("or take shm"));
  }
  EXPECT_EQ(ResolveForAnotherMachine(spec).strategy, "hierarchical");
  // What no backend would mend comes first.
  EXPECT_THROW(Resolve(With(spec, {{"error-feedback", "on"}})), SpecKeyError);
}

// Such as the one that a manifest is for.
TEST(Resolve, AnotherMachineMayHaveWhatThisOneLacks) {
  RunSpec spec = ProfileOfTenSteps();
  spec.model = "mlp";
  spec.data = "mnist";
  spec.data_dir = "/nonexistent";
  EXPECT_EQ(ResolveForAnotherMachine(spec).data_dir, "/nonexistent");
  EXPECT_THROW(Resolve(spec), SpecKeyError);
  spec = ProfileOfTenSteps();
  spec.resume = "/nonexistent";
  EXPECT_EQ(ResolveForAnotherMachine(spec).resume, "/nonexistent");
  EXPECT_THROW(Resolve(spec), SpecKeyError);
  RunSpec program(TestCatalog());
  program.program = {"/nonexistent", "train.py"};
  EXPECT_EQ(ResolveForAnotherMachine(program).model, kProgramModel);
  EXPECT_THROW(Resolve(program), SpecKeyError);
  program.program = {""};
  EXPECT_THROW(ResolveForAnotherMachine(program), SpecKeyError);
}

TEST(Resolve, SaysWhenTheBuildLacksLibtorch) {
  RunSpec spec(TestCatalog());
  spec.model = "mlp";
  if (ThisBuild().libtorch.empty()) {
    EXPECT_THROW(Resolve(spec), MissingBackendError);
  } else {
    EXPECT_EQ(Resolve(spec).data, "digits");
  }
}

}  // namespace
}  // namespace ringside

// Checks that the rules find what breaks them.
#include "tests/layering/layering_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/layering/build_record.h"
#include "tests/layering/folder_graph.h"
#include "tests/layering/source_tree.h"

namespace ringside {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

TEST(LayeringRulesTest, ForbiddenIncludesAreSeen) {
  const auto violations = [](const std::string& path, const std::string& text) {
    return Violations(ReadSource(path, text));
  };
  EXPECT_THAT(violations("common/core/a.cc", "#include \"ringside/ring/core/collective.h\"\n"),
              ElementsAre("ringside/ring/core/collective.h"));
  EXPECT_THAT(
      violations("common/a/b.cc", "int a;\n  # include <grpcpp/grpcpp.h>\n#include <mpi.h>"),
      ElementsAre("grpcpp/grpcpp.h", "mpi.h"));
  EXPECT_THAT(violations("common/a/b.cc", "#include <fmt/format.h>\n"),
              ElementsAre("fmt/format.h"));
  EXPECT_THAT(violations("ring/shm/a.cc", "#include \"ringside/paramserver/server/shard.h\"\n"),
              ElementsAre("ringside/paramserver/server/shard.h"));
  EXPECT_THAT(violations("models/core/a.h",
                         "#include \"ringside/experiments/spec/run_spec.h\"\n"
                         "#include \"tests/a.h\"\n"),
              ElementsAre("ringside/experiments/spec/run_spec.h", "tests/a.h"));
}

TEST(LayeringRulesTest, OurHeadersAreIncludedByTheirWholePath) {
  const std::string relative =
      "#include \"shard.h\"\n#include \"../../paramserver/server/shard.h\"\n";
  EXPECT_THAT(Violations(ReadSource("ring/shm/a.cc", relative)),
              testing::IsSupersetOf({"shard.h", "../../paramserver/server/shard.h"}));
  EXPECT_THAT(Violations(ReadSource("ring/shm/a.cc", "#include \"ringside/ring/core/b.h\"\n")),
              IsEmpty());
}

TEST(LayeringRulesTest, OnlySecurityMayIncludeOpenSsl) {
  const std::string openssl = "#include <openssl/crypto.h>\n";
  EXPECT_THAT(Violations(ReadSource("common/security/a.cc", openssl)), IsEmpty());
  EXPECT_THAT(Violations(ReadSource("common/security/a.h", openssl)),
              ElementsAre("openssl/crypto.h"));
  EXPECT_THAT(Violations(ReadSource("common/core/a.cc", openssl)), ElementsAre("openssl/crypto.h"));
  EXPECT_THAT(Violations(ReadSource("common/security/a.cc", "#include <grpcpp/grpcpp.h>\n")),
              ElementsAre("grpcpp/grpcpp.h"));
}

TEST(LayeringRulesTest, VendorHeadersArePrivate) {
  const std::string gloo = "#include <gloo/context.h>\n";
  EXPECT_THAT(Violations(ReadSource("ring/a/b.h", gloo)), ElementsAre("gloo/context.h"));
  EXPECT_THAT(Violations(ReadSource("ring/a/b.h", "// Private to ring/a.\n" + gloo)), IsEmpty());
  EXPECT_THAT(Violations(ReadSource("ring/a/b.cc", gloo)), IsEmpty());
  EXPECT_THAT(
      Violations(ReadSource("paramserver/a/b.h", "#include \"ringside/paramserver/a/a.pb.h\"\n")),
      ElementsAre("ringside/paramserver/a/a.pb.h"));
  EXPECT_THAT(Violations(ReadSource("ring/a/b.h", "#include <nlohmann/json.hpp>\n")),
              ElementsAre("nlohmann/json.hpp"));
  EXPECT_THAT(Violations(ReadSource("experiments/a/b.h", "#include <nlohmann/json.hpp>\n")),
              IsEmpty());
}

TEST(LayeringRulesTest, PrivateHeadersAreSeen) {
  const Names private_headers{"ring/a/p.h"};
  const std::string text = "#include \"ringside/ring/a/p.h\"\n";
  EXPECT_THAT(PrivateIncludes(ReadSource("ring/b/c.cc", text), private_headers), IsEmpty());
  EXPECT_THAT(PrivateIncludes(ReadSource("ring/b/c.h", text), private_headers),
              ElementsAre("ringside/ring/a/p.h"));
  EXPECT_THAT(PrivateIncludes(ReadSource("experiments/b/c.cc", text), private_headers),
              ElementsAre("ringside/ring/a/p.h"));
}

TEST(LayeringRulesTest, AllowedIncludesPass) {
  EXPECT_THAT(Violations(ReadSource("common/a/b.cc",
                                    "#include <sys/mman.h>\n#include <vector>\n"
                                    "#include \"ringside/common/core/store.h\"\n"
                                    "// #include \"ringside/ring/a.h\" no\n")),
              IsEmpty());
}

TEST(LayeringRulesTest, TypesAreSeen) {
  EXPECT_THAT(
      DefinedTypes("class A;\nstruct B {\n  struct C {};\n};\nclass D final : public A {\n"
                   "enum class E : int { kOne };\ntemplate <typename T>\nclass F\n    : public "
                   "A {\nstruct G {};\n"),
      ElementsAre("B", "D", "E", "F", "G"));
}

TEST(LayeringRulesTest, GraphsAndCyclesAreSeen) {
  const Graph graph = IncludeGraph(
      {ReadSource("ring/a/x.cc", "#include \"ringside/ring/b/y.h\"\n"),
       ReadSource("ring/b/y.h", "#include \"ringside/ring/b/z.h\"\n#include <vector>\n")});
  EXPECT_THAT(graph.at("ring/a"), ElementsAre("ring/b"));
  EXPECT_THAT(graph.at("ring/b"), IsEmpty());
  EXPECT_THAT(Cycle(graph), IsEmpty());
  EXPECT_THAT(Cycle({{"a", {"b"}}, {"b", {"c"}}, {"c", {"b"}}}), ElementsAre("a", "b", "c", "b"));
}

TEST(LayeringRulesTest, ReadsWhatTheBuildSays) {
  const BuildRecord build = ParseBuildRecord(
      "folder ring/a : common/core ring/b : fmt::fmt gloo : ring/c\n"
      "folder common/core :  :  : \n"
      "component ring : ringside_core gloo\n"
      "left-out ring/d\n");
  EXPECT_THAT(build.folders.at("ring/a"), ElementsAre("common/core", "ring/b"));
  EXPECT_THAT(build.packages.at("ring/a"), ElementsAre("fmt::fmt", "gloo"));
  EXPECT_THAT(build.made.at("ring/a"), ElementsAre("ring/c"));
  EXPECT_THAT(build.folders.at("common/core"), IsEmpty());
  EXPECT_THAT(build.components.at("ring"), UnorderedElementsAre("ringside_core", "gloo"));
  EXPECT_THAT(build.left_out, ElementsAre("ring/d"));
}

}  // namespace
}  // namespace ringside

// Checks which folder may include and link which. The build says what each folder's target links
// (generated/folders.txt, written by cmake/RingsideLibrary.cmake), the sources say what they
// include: both must be one graph, without cycles, which keeps the rules of CONTRIBUTING.md.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace ringside {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

using Names = std::set<std::string>;
using Graph = std::map<std::string, Names>;

constexpr std::array kTops{"common", "ring", "paramserver", "models", "experiments"};
constexpr std::string_view kOurs = "ringside/";
/// Made while building; of no folder.
constexpr std::string_view kGenerated = "experiments/generated";

// --- Rules -----------------------------------------------------------------------------------

/// The folders that a folder of the first name may include.
const Graph& AllowedTops() {
  static const Graph allowed{
      {"common", {"common"}},
      {"ring", {"common", "ring"}},
      {"paramserver", {"common", "paramserver"}},
      {"models", {"common", "models"}},
      {"experiments", {"common", "ring", "paramserver", "models", "experiments"}}};
  return allowed;
}

/// What an archive of the first name may link of ours.
const Graph& AllowedComponents() {
  static const Graph allowed{{"core", {}},
                             {"ring", {"core"}},
                             {"paramserver", {"core"}},
                             {"models", {"core"}},
                             {"torch_models", {"core", "models"}},
                             {"app", {"core", "ring", "paramserver", "models"}}};
  return allowed;
}

std::string TopOf(const std::string& path) { return path.substr(0, path.find('/')); }

// The standard library's and the C library's headers have no folder; POSIX and Linux have some.
bool IsStandardOrPosix(const std::string& header) {
  static const Names folders{"sys", "arpa", "net", "netinet", "linux"};
  static const Names vendor_files{"mpi.h", "nccl.h", "cuda.h", "cuda_runtime.h", "sqlite3.h"};
  if (header.find('/') != std::string::npos) return folders.contains(TopOf(header));
  return !vendor_files.contains(header);
}

bool IsVendor(const std::string& header) {
  return !header.starts_with(kOurs) && !header.starts_with("tests/") && !IsStandardOrPosix(header);
}

bool IsMadeByVendor(const std::string& header) { return header.ends_with(".pb.h"); }

/// The one folder of common/ with a package: what keeps the job's token secret.
constexpr std::string_view kSecurity = "common/security";
bool IsSecurityOf(const std::string& folder, const std::string& header) {
  return folder == kSecurity && header.starts_with("openssl/");
}

/// Specs, bundles and reports use JSON values.
bool IsVocabularyOf(const std::string& top, const std::string& header) {
  return top == "experiments" && header.starts_with("nlohmann/");
}

// --- Sources ---------------------------------------------------------------------------------

struct Source {
  std::string path;    ///< From the top.
  std::string folder;  ///< Its directory.
  std::vector<std::string> includes;
  bool is_header = false;
  bool is_private = false;  ///< Says "// Private to ..." on a line.
};

/// The header that a line includes; empty for any other line.
std::string IncludedBy(const std::string& line) {
  std::istringstream words(line);
  std::string word;
  words >> word;
  if (word == "#") {
    words >> word;
    word = "#" + word;
  }
  if (!word.starts_with("#include")) return "";
  const std::size_t begin = line.find_first_of("\"<");
  const std::size_t end = line.find_first_of("\">", begin + 1);
  if (begin == std::string::npos || end == std::string::npos) return "";
  return line.substr(begin + 1, end - begin - 1);
}

Source Read(const std::string& path, const std::string& text) {
  Source source;
  source.path = path;
  source.folder = fs::path(path).parent_path().string();
  source.is_header = path.ends_with(".h");
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("// Private to ")) source.is_private = true;
    if (std::string header = IncludedBy(line); !header.empty()) {
      source.includes.push_back(std::move(header));
    }
  }
  return source;
}

std::string ReadFile(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

const std::vector<Source>& Sources() {
  static const std::vector<Source> sources = [] {
    std::vector<Source> found;
    const fs::path root = RINGSIDE_SOURCE_DIR;
    for (const char* top : kTops) {
      for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
        const std::string extension = entry.path().extension();
        if (extension != ".h" && extension != ".cc" && extension != ".cu") continue;
        found.push_back(
            Read(fs::relative(entry.path(), root).string(), ReadFile(entry.path().string())));
      }
    }
    return found;
  }();
  return sources;
}

/// The folder of ours that a header lies in; empty for any other.
std::string FolderOfHeader(const std::string& header) {
  if (!header.starts_with(kOurs)) return "";
  std::string folder = fs::path(header.substr(kOurs.size())).parent_path().string();
  return folder == kGenerated ? "" : folder;
}

/// The folders that each folder includes, without itself.
Graph IncludeGraph(const std::vector<Source>& sources) {
  Graph graph;
  for (const Source& source : sources) {
    Names& included = graph[source.folder];
    for (const std::string& header : source.includes) {
      const std::string folder = FolderOfHeader(header);
      if (!folder.empty() && folder != source.folder) included.insert(folder);
    }
  }
  return graph;
}

std::vector<std::string> Violations(const Source& source) {
  const std::string top = TopOf(source.path);
  const Names& allowed = AllowedTops().at(top);
  std::vector<std::string> violations;
  for (const std::string& header : source.includes) {
    const std::string folder = FolderOfHeader(header);
    const bool foreign =
        (!folder.empty() && !allowed.contains(TopOf(folder))) || header.starts_with("tests/");
    const bool vendor = IsVendor(header) || IsMadeByVendor(header);
    const bool vendor_forbidden =
        vendor && ((top == "common" && !IsSecurityOf(source.folder, header)) ||
                   (source.is_header && !source.is_private && !IsVocabularyOf(top, header)));
    if (foreign || vendor_forbidden) violations.push_back(header);
  }
  return violations;
}

/// Private headers that `source` includes and must not: another component's, or any where it is a
/// header that everybody may include.
std::vector<std::string> PrivateIncludes(const Source& source, const Names& private_headers) {
  std::vector<std::string> violations;
  for (const std::string& header : source.includes) {
    if (!header.starts_with(kOurs)) continue;
    const std::string path = header.substr(kOurs.size());
    if (!private_headers.contains(path)) continue;
    const bool open = source.is_header && !source.is_private;
    if (open || TopOf(path) != TopOf(source.path)) violations.push_back(header);
  }
  return violations;
}

/// A cycle from a folder back to itself; empty when there is none.
std::vector<std::string> Cycle(const Graph& graph) {
  enum class State { kNew, kOpen, kDone };
  std::map<std::string, State> states;
  std::vector<std::string> way;
  const std::function<bool(const std::string&)> closes = [&](const std::string& node) {
    State& state = states[node];
    if (state == State::kDone) return false;
    way.push_back(node);
    if (state == State::kOpen) return true;
    state = State::kOpen;
    if (const auto next = graph.find(node); next != graph.end()) {
      for (const std::string& other : next->second) {
        if (closes(other)) return true;
      }
    }
    states[node] = State::kDone;
    way.pop_back();
    return false;
  };
  for (const auto& [node, others] : graph) {
    if (closes(node)) return way;
  }
  return {};
}

// --- The build -------------------------------------------------------------------------------

struct Build {
  Graph folders;     ///< What each folder's target links of ours, or declares.
  Graph packages;    ///< What each folder's target links besides.
  Graph made;        ///< What sources that are made while building include.
  Graph components;  ///< What each archive links.
  Names left_out;    ///< Folders that this configuration does not build.
};

Build ParseBuild(const std::string& text) {
  Build build;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream rest(line);
    std::string kind;
    std::string name;
    rest >> kind >> name;
    std::array<Names, 3> columns;
    // A word ":" parts them.
    int column = -1;
    for (std::string word; rest >> word;) {
      if (word == ":") {
        ++column;
      } else {
        columns.at(column).insert(word);
      }
    }
    if (kind == "left-out") build.left_out.insert(name);
    if (kind == "component") build.components[name] = columns[0];
    if (kind == "folder") {
      build.folders[name] = columns[0];
      build.packages[name] = columns[1];
      build.made[name] = columns[2];
    }
  }
  return build;
}

const Build& TheBuild() {
  static const Build build = ParseBuild(ReadFile(RINGSIDE_FOLDERS));
  return build;
}

Names Without(const Names& names, const Names& others) {
  Names left;
  std::ranges::set_difference(names, others, std::inserter(left, left.end()));
  return left;
}

// --- Includes --------------------------------------------------------------------------------

TEST(LayeringTest, EveryFileIncludesOnlyWhatItMay) {
  ASSERT_GT(Sources().size(), 400U) << "nothing was looked at";
  for (const Source& source : Sources()) EXPECT_THAT(Violations(source), IsEmpty()) << source.path;
}

TEST(LayeringTest, PrivateHeadersStayInTheirComponent) {
  Names private_headers;
  for (const Source& source : Sources()) {
    if (source.is_private) private_headers.insert(source.path);
  }
  ASSERT_FALSE(private_headers.empty());
  for (const Source& source : Sources()) {
    EXPECT_THAT(PrivateIncludes(source, private_headers), IsEmpty()) << source.path;
  }
}

// So the build shows that every header with a .cc beside it stands alone; tests/package compiles
// the others.
TEST(LayeringTest, EveryFileIncludesItsOwnHeaderFirst) {
  Names headers;
  for (const Source& source : Sources()) {
    if (source.is_header) headers.insert(source.path);
  }
  for (const Source& source : Sources()) {
    const std::string own = fs::path(source.path).replace_extension(".h").string();
    if (source.is_header || !headers.contains(own)) continue;
    ASSERT_FALSE(source.includes.empty()) << source.path;
    EXPECT_EQ(source.includes.front(), std::string(kOurs) + own) << source.path;
  }
}

// --- Includes against targets ----------------------------------------------------------------

TEST(LayeringTest, EveryFolderDeclaresExactlyWhatItIncludes) {
  Graph included = IncludeGraph(Sources());
  for (const auto& [folder, made] : TheBuild().made)
    included[folder].insert(made.begin(), made.end());
  for (const auto& [folder, others] : included) {
    if (TheBuild().left_out.contains(folder)) continue;
    const auto declared = TheBuild().folders.find(folder);
    ASSERT_NE(declared, TheBuild().folders.end()) << folder << " has sources and no target";
    EXPECT_THAT(Without(others, declared->second), IsEmpty())
        << "included by " << folder << ": add to DEPENDS in " << folder << "/CMakeLists.txt";
    EXPECT_THAT(Without(declared->second, others), IsEmpty())
        << "linked by " << folder << ", and nothing there includes it: take it out of DEPENDS in "
        << folder << "/CMakeLists.txt";
  }
}

TEST(LayeringTest, NoCycleOfFolders) {
  EXPECT_THAT(Cycle(IncludeGraph(Sources())), IsEmpty());
  EXPECT_THAT(Cycle(TheBuild().folders), IsEmpty());
}

TEST(LayeringTest, EveryTargetLinksOnlyWhatItMay) {
  for (const auto& [folder, others] : TheBuild().folders) {
    for (const std::string& other : others) {
      EXPECT_TRUE(AllowedTops().at(TopOf(folder)).contains(TopOf(other)))
          << folder << " links " << other;
    }
  }
  for (const auto& [folder, packages] : TheBuild().packages) {
    if (folder == kSecurity) {
      EXPECT_THAT(packages, ElementsAre("OpenSSL::Crypto"));
    } else if (TopOf(folder) == "common") {
      EXPECT_THAT(packages, IsEmpty()) << folder;
    }
    for (const std::string& package : packages) {
      EXPECT_THAT(package, Not(HasSubstr("ringside"))) << folder << " links " << package;
    }
  }
}

TEST(LayeringTest, EveryArchiveLinksOnlyWhatItMay) {
  constexpr std::string_view kPrefix = "ringside_";
  ASSERT_TRUE(TheBuild().components.contains("core"));
  for (const auto& [component, links] : TheBuild().components) {
    for (const std::string& link : links) {
      if (!link.starts_with(kPrefix)) continue;
      EXPECT_TRUE(AllowedComponents().at(component).contains(link.substr(kPrefix.size())))
          << component << " links " << link;
    }
  }
  EXPECT_THAT(TheBuild().components.at("core"),
              UnorderedElementsAre("OpenSSL::Crypto", "Threads::Threads"));
}

// common/core/deadline.h: a stepped wall clock never fires a deadline.
TEST(LayeringTest, DeadlinesAreMonotonic) {
  for (const Source& source : Sources()) {
    if (TopOf(source.path) == "experiments") continue;
    EXPECT_THAT(ReadFile(fs::path(RINGSIDE_SOURCE_DIR) / source.path),
                Not(HasSubstr("system_clock")))
        << source.path;
  }
}

// --- The rules find what breaks them ---------------------------------------------------------

TEST(LayeringRulesTest, ForbiddenIncludesAreSeen) {
  const auto violations = [](const std::string& path, const std::string& text) {
    return Violations(Read(path, text));
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

TEST(LayeringRulesTest, OnlySecurityMayIncludeOpenSsl) {
  const std::string openssl = "#include <openssl/crypto.h>\n";
  EXPECT_THAT(Violations(Read("common/security/a.cc", openssl)), IsEmpty());
  EXPECT_THAT(Violations(Read("common/security/a.h", openssl)), ElementsAre("openssl/crypto.h"));
  EXPECT_THAT(Violations(Read("common/core/a.cc", openssl)), ElementsAre("openssl/crypto.h"));
  EXPECT_THAT(Violations(Read("common/security/a.cc", "#include <grpcpp/grpcpp.h>\n")),
              ElementsAre("grpcpp/grpcpp.h"));
}

TEST(LayeringRulesTest, VendorHeadersArePrivate) {
  const std::string gloo = "#include <gloo/context.h>\n";
  EXPECT_THAT(Violations(Read("ring/a/b.h", gloo)), ElementsAre("gloo/context.h"));
  EXPECT_THAT(Violations(Read("ring/a/b.h", "// Private to ring/a.\n" + gloo)), IsEmpty());
  EXPECT_THAT(Violations(Read("ring/a/b.cc", gloo)), IsEmpty());
  EXPECT_THAT(Violations(Read("paramserver/a/b.h", "#include \"ringside/paramserver/a/a.pb.h\"\n")),
              ElementsAre("ringside/paramserver/a/a.pb.h"));
  EXPECT_THAT(Violations(Read("ring/a/b.h", "#include <nlohmann/json.hpp>\n")),
              ElementsAre("nlohmann/json.hpp"));
  EXPECT_THAT(Violations(Read("experiments/a/b.h", "#include <nlohmann/json.hpp>\n")), IsEmpty());
}

TEST(LayeringRulesTest, PrivateHeadersAreSeen) {
  const Names private_headers{"ring/a/p.h"};
  const std::string text = "#include \"ringside/ring/a/p.h\"\n";
  EXPECT_THAT(PrivateIncludes(Read("ring/b/c.cc", text), private_headers), IsEmpty());
  EXPECT_THAT(PrivateIncludes(Read("ring/b/c.h", text), private_headers),
              ElementsAre("ringside/ring/a/p.h"));
  EXPECT_THAT(PrivateIncludes(Read("experiments/b/c.cc", text), private_headers),
              ElementsAre("ringside/ring/a/p.h"));
}

TEST(LayeringRulesTest, AllowedIncludesPass) {
  EXPECT_THAT(Violations(Read("common/a/b.cc",
                              "#include <sys/mman.h>\n#include <vector>\n"
                              "#include \"ringside/common/core/store.h\"\n"
                              "// #include \"ringside/ring/a.h\" no\n")),
              IsEmpty());
}

TEST(LayeringRulesTest, GraphsAndCyclesAreSeen) {
  const Graph graph =
      IncludeGraph({Read("ring/a/x.cc", "#include \"ringside/ring/b/y.h\"\n"),
                    Read("ring/b/y.h", "#include \"ringside/ring/b/z.h\"\n#include <vector>\n")});
  EXPECT_THAT(graph.at("ring/a"), ElementsAre("ring/b"));
  EXPECT_THAT(graph.at("ring/b"), IsEmpty());
  EXPECT_THAT(Cycle(graph), IsEmpty());
  EXPECT_THAT(Cycle({{"a", {"b"}}, {"b", {"c"}}, {"c", {"b"}}}), ElementsAre("a", "b", "c", "b"));
}

TEST(LayeringRulesTest, ReadsWhatTheBuildSays) {
  const Build build = ParseBuild(
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

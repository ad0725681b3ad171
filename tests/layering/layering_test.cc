// Checks which folder may include and link which. The build says what each folder's target links.
// The sources say what they include. Both must be the same graph. It must have no cycles, and must
// keep the rules of CONTRIBUTING.md.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "tests/layering/build_record.h"
#include "tests/layering/folder_graph.h"
#include "tests/layering/layering_rules.h"
#include "tests/layering/source_tree.h"

namespace ringside {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

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

// So the build shows that a header with a .cc beside it compiles alone. tests/package compiles the
// other headers.
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

// The linker takes two types of one name for one, and then runs the functions of one on the other.
TEST(LayeringTest, EveryTypeOfAHeaderHasANameOfItsOwn) {
  std::map<std::string, std::string> headers;
  for (const Source& source : Sources()) {
    if (!source.is_header) continue;
    for (const std::string& type :
         DefinedTypes(ReadFile(fs::path(RINGSIDE_SOURCE_DIR) / source.path))) {
      const auto [first, is_new] = headers.emplace(type, source.path);
      EXPECT_TRUE(is_new) << type << " is defined in " << first->second << " and " << source.path;
    }
  }
  EXPECT_GT(headers.size(), 300U) << "nothing was looked at";
}

// Deadlines use a steady clock (common/base/deadline.h), because the wall clock may jump.
TEST(LayeringTest, DeadlinesAreMonotonic) {
  for (const Source& source : Sources()) {
    if (TopOf(source.path) == "experiments") continue;
    EXPECT_THAT(ReadFile(fs::path(RINGSIDE_SOURCE_DIR) / source.path),
                Not(HasSubstr("system_clock")))
        << source.path;
  }
}

}  // namespace
}  // namespace ringside

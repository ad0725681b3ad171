// Backends in shared libraries: the messages when one cannot be loaded, or does not fit.
#include "ringside/ring/backends/backend_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <ostream>

#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;

TEST(BackendLibraryTest, AMissingOneIsUnavailableWithTheFileAndTheRemedy) {
  const BackendLibrary library{.file = "libringside_nothing.so", .remedy = "install nothing"};
  const auto tells_both = AllOf(HasSubstr("libringside_nothing.so"), HasSubstr("install nothing"));
  EXPECT_THAT(library.Unavailable(), tells_both);
  try {
    library.Load();
    FAIL() << "expected a MissingBackendError";
  } catch (const MissingBackendError& error) {
    EXPECT_THAT(error.what(), tells_both);
  }
}

TEST(BackendLibraryTest, AnotherLibraryOfThatNameIsNone) {
  const BackendLibrary library{.file = "libm.so.6", .remedy = "build it again"};
  EXPECT_THAT(library.Unavailable(),
              AllOf(HasSubstr(kBackendFunction), HasSubstr("build it again")));
  EXPECT_THROW(library.Load(), MissingBackendError);
}

/// A fake of another version, and what the error says of its version.
struct Unfit {
  const char* file;
  const char* version;
};
void PrintTo(const Unfit& unfit, std::ostream* out) { *out << unfit.version; }

class UnfitBackendTest : public testing::TestWithParam<Unfit> {};

TEST_P(UnfitBackendTest, IsRefusedWithItsFileBothVersionsAndWhatToDo) {
  const BackendLibrary library{.file = GetParam().file, .remedy = "install it"};
  const auto tells_all = AllOf(HasSubstr(GetParam().file), HasSubstr(GetParam().version),
                               HasSubstr(BackendVersion()), HasSubstr("build both"));
  EXPECT_THAT(library.Unavailable(), tells_all);
  try {
    library.Load();
    FAIL() << "expected a MissingBackendError";
  } catch (const MissingBackendError& error) {
    EXPECT_THAT(error.what(), tells_all);
  }
}

INSTANTIATE_TEST_SUITE_P(Versions, UnfitBackendTest,
                         testing::Values(Unfit{BACKEND_FAKE_OTHER,
                                               "has 0.1.9, interface 000000000000"},
                                         Unfit{BACKEND_FAKE_UNVERSIONED, "has no version"}));

TEST(BackendLibraryTest, OneOfThisVersionIsLoaded) {
  const BackendLibrary library{.file = BACKEND_FAKE_CURRENT, .remedy = "install it"};
  EXPECT_NO_THROW(library.Load());
  EXPECT_EQ(library.Unavailable(), "a fake sums nothing");
}

TEST(BackendLibraryTest, ThoseOfThisBuildFitIt) {
  for (const BackendLibrary& library : {kMpiLibrary, kNcclLibrary}) {
    EXPECT_THAT(library.Unavailable(), Not(HasSubstr("does not fit"))) << library.file;
  }
}

TEST(BackendVersionTest, HasTheVersionAndAHash) {
  EXPECT_THAT(BackendVersion(), MatchesRegex("[0-9]+\\.[0-9]+\\.[0-9]+, interface [0-9a-f]{12}"));
}

}  // namespace
}  // namespace ringside

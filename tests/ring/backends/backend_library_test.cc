// Tests the message when the shared library of a backend cannot be loaded.
#include "ringside/ring/backends/backend_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ringside/common/core/errors.h"

namespace ringside {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

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

}  // namespace
}  // namespace ringside

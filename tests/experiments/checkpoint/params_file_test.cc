#include "ringside/experiments/checkpoint/params_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "ringside/common/base/errors.h"
#include "ringside/experiments/system/files/files.h"
#include "tests/common/temporary_directory.h"
#include "tests/experiments/checkpoint/checkpoint_testing.h"

namespace ringside {
namespace {

TEST(ParamsFile, ComesBackAndSeesDamage) {
  const TemporaryDirectory directory;
  const std::string path = directory.Path("params.bin");
  const std::vector<float> params{1, -2, 0.5};
  WriteParams(path, params);
  EXPECT_EQ(ReadParams(path), params);
  const std::string content = ReadFile(path, 1000);
  for (std::size_t at = 0; at < content.size(); ++at) {
    std::string damaged = content;
    damaged[at] = static_cast<char>(damaged[at] ^ 1);
    Overwrite(path, damaged);
    EXPECT_THROW(ReadParams(path), DataError) << "byte " << at;
    Overwrite(path, content.substr(0, at));
    EXPECT_THROW(ReadParams(path), DataError) << at << " bytes";
  }
  Overwrite(path, content + "x");
  EXPECT_THROW(ReadParams(path), DataError);
  std::filesystem::remove(path);
  EXPECT_THROW(ReadParams(path), DataError);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_THROW(ReadParams(path), DataError);  // it does not wait for a writer
}

}  // namespace
}  // namespace ringside

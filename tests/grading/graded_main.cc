// Runs the conformance tests of one strategy: those whose name has the name of `OwnStrategy()`.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "tests/experiments/test_catalog.h"

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  std::string name = OwnStrategy().name;
  std::ranges::replace(name, '-', '_');
  if (GTEST_FLAG_GET(filter) == "*") GTEST_FLAG_SET(filter, "*/" + name + "_*");
  const int code = RUN_ALL_TESTS();
  return testing::UnitTest::GetInstance()->test_to_run_count() == 0 ? 1 : code;
}

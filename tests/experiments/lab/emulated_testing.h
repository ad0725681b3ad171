#ifndef RINGSIDE_TESTS_EXPERIMENTS_LAB_EMULATED_TESTING_H_
#define RINGSIDE_TESTS_EXPERIMENTS_LAB_EMULATED_TESTING_H_

#include <gtest/gtest.h>

#include "ringside/experiments/lab/emulation_support.h"

namespace ringside {

/// For tests that need emulated hosts. They are skipped if this process may not make hosts.
class EmulatedTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const LabSupport support = ProbeLab();
    if (!support.hosts.empty()) GTEST_SKIP() << support.hosts;
    if (!support.rates.empty()) GTEST_SKIP() << support.rates;
  }
};

}  // namespace ringside

#endif  // RINGSIDE_TESTS_EXPERIMENTS_LAB_EMULATED_TESTING_H_

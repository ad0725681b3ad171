#ifndef RINGSIDE_TESTS_EXPERIMENTS_LAB_EMULATED_TESTING_H_
#define RINGSIDE_TESTS_EXPERIMENTS_LAB_EMULATED_TESTING_H_

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "ringside/experiments/lab/emulation_support.h"

namespace ringside {

/// Whether the root of this process is that of its mounts. chroot into a folder makes another one,
/// and then the kernel gives the process no user namespaces (user_namespaces(7)).
inline bool RootIsAMount() {
  std::ifstream mounts("/proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream fields(line);
    std::string id, parent, device, root, place;
    if (fields >> id >> parent >> device >> root >> place && place == "/") return true;
  }
  return false;
}

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

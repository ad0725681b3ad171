#include "tests/faults/update_ledger.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <vector>

namespace ringside {
namespace {

TEST(UpdateLedger, TellsHowOftenAnUpdateWasApplied) {
  std::vector<float> params(kLedgerTensors * kLedgerSamples);
  params[kLedgerSamples + 5] = -(1 + 2 * 4 + 3 * 16);
  EXPECT_EQ(TimesApplied(params, 1, 5, 0), 1);
  EXPECT_EQ(TimesApplied(params, 1, 5, 1), 2);
  EXPECT_EQ(TimesApplied(params, 1, 5, 2), 3);
  EXPECT_EQ(TimesApplied(params, 1, 5, 3), 0);
  EXPECT_EQ(TimesApplied(params, 0, 5, 0), 0);
  params[0] = 0.5;
  EXPECT_THROW(TimesApplied(params, 0, 0, 0), std::runtime_error);
}

}  // namespace
}  // namespace ringside

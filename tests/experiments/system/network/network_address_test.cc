#include "ringside/experiments/system/network/network_address.h"

#include <gtest/gtest.h>

#include "ringside/common/base/errors.h"

namespace ringside {
namespace {

TEST(NetworkAddress, TellsLoopbackFromOtherAddresses) {
  EXPECT_TRUE(IsLoopback("127.0.0.1"));
  EXPECT_TRUE(IsLoopback("127.1.2.3"));
  EXPECT_TRUE(IsLoopback("::1"));
  EXPECT_FALSE(IsLoopback("10.0.0.1"));
  EXPECT_THROW(IsLoopback("localhost"), ConfigError);
  EXPECT_EQ(SourceAddressTowards("127.0.0.1"), "127.0.0.1");
}

}  // namespace
}  // namespace ringside

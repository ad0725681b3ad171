#ifndef RINGSIDE_TESTS_COMMON_SLOW_STORE_H_
#define RINGSIDE_TESTS_COMMON_SLOW_STORE_H_

#include <chrono>
#include <string>
#include <string_view>

#include "ringside/common/base/errors.h"
#include "ringside/common/core/store.h"

namespace ringside {

/// A store that acts as if other processes were slow to set keys. A wait shorter than `takes` for a
/// key that begins with `prefix` fails at once, without a clock. A longer wait gets the value as
/// soon as it is set. Thread-safe, but call `Delay` before threads start.
class SlowStore : public InProcessStore {
 public:
  void Delay(std::string prefix, std::chrono::milliseconds takes) {
    prefix_ = std::move(prefix);
    takes_ = takes;
  }

  std::string Get(std::string_view key, const Deadline& deadline) override {
    if (key.starts_with(prefix_) && deadline.remaining() < takes_) {
      throw CommError("store", "waiting for " + std::string(key), "it is set only later");
    }
    return InProcessStore::Get(key, deadline);
  }

 private:
  std::string prefix_;
  std::chrono::milliseconds takes_{0};
};

}  // namespace ringside

#endif  // RINGSIDE_TESTS_COMMON_SLOW_STORE_H_

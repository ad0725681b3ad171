#ifndef RINGSIDE_RING_TRANSPORTS_CONNECT_WATCHDOG_H_
#define RINGSIDE_RING_TRANSPORTS_CONNECT_WATCHDOG_H_

#include <condition_variable>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>

#include "ringside/common/core/deadline.h"

namespace ringside {

/// Calls `expire` on its own thread if it still exists at the deadline. So a blocking call without
/// a deadline gets one. Only for start-up. Destruction waits for a running `expire`.
class ConnectWatchdog {
 public:
  ConnectWatchdog(const Deadline& deadline, std::function<void()> expire)
      : thread_([this, deadline, expire = std::move(expire)](const std::stop_token& stop) {
          std::unique_lock lock(mutex_);
          changed_.wait_until(lock, stop, deadline.at(), [] { return false; });
          if (!stop.stop_requested()) expire();
        }) {}

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::jthread thread_;
};

}  // namespace ringside

#endif  // RINGSIDE_RING_TRANSPORTS_CONNECT_WATCHDOG_H_

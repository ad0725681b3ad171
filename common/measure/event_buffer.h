#ifndef RINGSIDE_COMMON_MEASURE_EVENT_BUFFER_H_
#define RINGSIDE_COMMON_MEASURE_EVENT_BUFFER_H_

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <limits>
#include <memory>
#include <vector>

namespace ringside {

/// Room for a fixed number of events, which stay in memory until `Take` moves them out, outside the
/// hot path. `Add` is thread-safe and lock-free, because an atomic counter assigns the slots.
/// Events beyond the capacity are counted and dropped.
template <typename Event>
class EventBuffer {
 public:
  /// Has room for nothing.
  EventBuffer() = default;
  explicit EventBuffer(std::size_t capacity)
      : capacity_(capacity), slots_(std::make_unique<Slot[]>(capacity)) {}

  std::size_t capacity() const { return capacity_; }

  void Add(const Event& event) {
    const std::size_t index = next_.fetch_add(1, std::memory_order_relaxed);
    if (index >= capacity_) return;
    Slot& slot = slots_[index];
    slot.event = event;
    slot.written.store(true, std::memory_order_release);
  }

  /// Takes at most `max` of the events added since the last call. Only one thread at a time may
  /// call it; other threads may add events meanwhile. It stops before an event that is still being
  /// written.
  std::vector<Event> Take(std::size_t max = std::numeric_limits<std::size_t>::max()) {
    std::vector<Event> events;
    const std::size_t end = std::min(next_.load(std::memory_order_relaxed), capacity_);
    for (; taken_ < end && events.size() < max; ++taken_) {
      const Slot& slot = slots_[taken_];
      if (!slot.written.load(std::memory_order_acquire)) break;
      events.push_back(slot.event);
    }
    return events;
  }

  std::size_t dropped() const {
    const std::size_t claimed = next_.load(std::memory_order_relaxed);
    return claimed > capacity_ ? claimed - capacity_ : 0;
  }

 private:
  struct Slot {
    Event event;
    std::atomic<bool> written{false};
  };

  std::size_t capacity_ = 0;
  std::unique_ptr<Slot[]> slots_;
  std::atomic<std::size_t> next_{0};
  std::size_t taken_ = 0;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_MEASURE_EVENT_BUFFER_H_

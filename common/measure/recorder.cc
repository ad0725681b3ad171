#include "ringside/common/measure/recorder.h"

namespace ringside {

Recorder::Recorder(std::size_t steps) { steps_.reserve(steps); }

void Recorder::AddPayload(std::uint64_t sent, std::uint64_t received) {
  sent_.fetch_add(sent, std::memory_order_relaxed);
  received_.fetch_add(received, std::memory_order_relaxed);
}

void Recorder::AddCodecTime(std::chrono::nanoseconds time) {
  codec_ns_.fetch_add(time.count(), std::memory_order_relaxed);
}

void Recorder::AddStragglerTime(std::chrono::nanoseconds time) {
  straggler_ns_.fetch_add(time.count(), std::memory_order_relaxed);
}

double Recorder::TakeStragglerMs() {
  return static_cast<double>(straggler_ns_.exchange(0, std::memory_order_relaxed)) * 1e-6;
}

double Recorder::TakeCodecMs() {
  return static_cast<double>(codec_ns_.exchange(0, std::memory_order_relaxed)) * 1e-6;
}

void Recorder::AddStaleness(std::int64_t versions) {
  const std::lock_guard lock(mutex_);
  ++staleness_[versions];
}

void Recorder::AddReconnects(int count) { reconnects_.fetch_add(count, std::memory_order_relaxed); }

void Recorder::AddDroppedPush() { dropped_pushes_.fetch_add(1, std::memory_order_relaxed); }

std::map<std::int64_t, std::int64_t> Recorder::staleness() const {
  const std::lock_guard lock(mutex_);
  return staleness_;
}

}  // namespace ringside

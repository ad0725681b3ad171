#ifndef RINGSIDE_RING_FUTEX_H_
#define RINGSIDE_RING_FUTEX_H_

#include <atomic>
#include <chrono>
#include <cstdint>

namespace ringside {

/// Sleeping on a word that processes share. The kernel knows nothing of its value: whoever changes
/// it wakes the sleepers.

/// Returns at once when `word` is not `seen`; else when it is woken, after `patience`, or for no
/// reason.
void FutexWait(std::atomic<std::uint32_t>& word, std::uint32_t seen,
               std::chrono::nanoseconds patience);
/// Wakes all who sleep on `word`.
void FutexWake(std::atomic<std::uint32_t>& word);

}  // namespace ringside

#endif  // RINGSIDE_RING_FUTEX_H_

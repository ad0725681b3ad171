#ifndef RINGSIDE_EXPERIMENTS_DEMO_ORDER_CHECK_H_
#define RINGSIDE_EXPERIMENTS_DEMO_ORDER_CHECK_H_

#include <cstdint>

#include "ringside/experiments/demo/record_facts.h"

namespace ringside {

/// Rings and the like send in messages of at most this size (`Links::kSegmentBytes`). A chunk that
/// is not larger is one message.
inline constexpr std::uint64_t kMostMessageBytes = std::uint64_t{63} << 10;

/// Compares the times of events with what the code that records them guarantees:
///
///  - An event of a worker lies within a `wire` of its bucket. A slice in shared memory is an
///    `apply`.
///  - Sums: a thread makes one call after another. So nothing begins or ends while a message is on
///    its way, a call begins when the one before it has ended, and, except in a tree, chunks to one
///    side do not overlap. A ring passes on only what has come.
///  - Workers with servers: a pull begins when the push was sent. No push comes before it was sent.
///  - A piece at its server: the lock of the piece gives its events an order, which is that of the
///    file. An update follows the push that it names, and has the next version. An answer has the
///    version of the update before it, and tells how old the gradient was.
///  - A push comes when its `queue` begins at the server, and is taken when it has ended. The
///    begin of an `apply` lies within its update.
///
/// Pure, apart from `problems`.
void CheckOrder(const RecordedRun& run, const RecordFacts& facts, RecordProblems& problems);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_DEMO_ORDER_CHECK_H_

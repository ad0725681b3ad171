#ifndef RINGSIDE_EXPERIMENTS_DEMO_COLUMN_CHECK_H_
#define RINGSIDE_EXPERIMENTS_DEMO_COLUMN_CHECK_H_

#include "ringside/experiments/demo/record_facts.h"

namespace ringside {

/// Compares the columns of each event with what such an event has, whatever its times are:
///
///  - A column that an event does not use has its fixed value: -1, 0 or null.
///  - An event lies within its bucket. Without a codec an element has 4 bytes.
///  - A piece has one bucket, one server, one offset and one number of elements in all events. The
///    pieces of a bucket lie one after another, without a gap.
///  - In `shm` every worker has one slice of a bucket in each step. The slices lie one after
///  another
///    in the order of the ranks, without a gap.
///  - Each process has as many events as the head says.
///
/// Pure, apart from `problems`.
void CheckColumns(const RecordedRun& run, const RecordFacts& facts, RecordProblems& problems);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_DEMO_COLUMN_CHECK_H_

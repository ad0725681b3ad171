#ifndef RINGSIDE_EXPERIMENTS_DEMO_RECORD_CHECK_H_
#define RINGSIDE_EXPERIMENTS_DEMO_RECORD_CHECK_H_

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ringside/experiments/demo/recorded_run.h"

namespace ringside {

/// What a node sent and received in a phase.
struct PhaseTraffic {
  std::uint64_t chunks_sent = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t chunks_received = 0;
  std::uint64_t bytes_received = 0;
};

/// Whether a record can be true, and what it adds up to.
struct RecordCheck {
  std::vector<std::map<ChunkPhase, PhaseTraffic>> nodes;  ///< Workers by rank, then servers.
  std::vector<std::int64_t> last_ns;  ///< By node: when its last event ended; -1: it has none.
  std::vector<std::uint64_t> sent_by_worker;  ///< In bytes, to workers and servers.
  /// The same as the kernel of each worker counted it; -1: unknown. Empty: the summary is old.
  std::vector<double> kernel_sent_by_worker;
  double steps = 0;                     ///< Steps of which the record has all chunks.
  double sent_per_worker_per_step = 0;  ///< In bytes, the mean over workers and those steps.
  std::vector<std::string> problems;    ///< What cannot be true; at most `kMostProblems`.
  std::size_t further_problems = 0;

  static constexpr std::size_t kMostProblems = 20;
};

/// Compares the record with itself, with the trace and with the summary of its run:
///
///  - The file has the checksum that was written with it.
///  - The columns of each event have what such an event has (column_check.h).
///  - Times have the order that the recording code guarantees (order_check.h).
///  - Both ends of a transfer say the same bytes, version and staleness, and nothing arrived before
///    it was sent.
///  - In a ring each chunk goes from a rank to the next one, and every rank sends world - 1 chunks
///    of each bucket in each phase.
///  - Workers push every bucket once a step, and get it once.
///  - Synchronous servers update when the last push has come, and name its worker.
///  - The versions of a piece count up, by one if all steps were recorded.
///  - If all steps were recorded, the bytes are within 1 % of the payload in the summary, and over
///    TCP each worker's kernel sent as many.
///
/// A record that is cut off or that lacks dropped chunks, and one of a run that failed or lost
/// workers, is checked where it has both ends. Pure.
RecordCheck CheckRecord(const RecordedRun& run);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_DEMO_RECORD_CHECK_H_

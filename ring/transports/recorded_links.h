#ifndef RINGSIDE_RING_TRANSPORTS_RECORDED_LINKS_H_
#define RINGSIDE_RING_TRANSPORTS_RECORDED_LINKS_H_

#include <array>
#include <cstddef>
#include <span>
#include <string>

#include "ringside/common/measure/timeline.h"
#include "ringside/ring/algorithms/links.h"
#include "ringside/ring/core/bucket_message.h"

namespace ringside {

/// What an algorithm sums, for the record of its chunks.
struct RecordedSum {
  Timeline& timeline;
  const BucketMessage& message;
  /// The memory that the algorithm is given, and how many floats `element_bytes()` of it stand for;
  /// 0: it holds no elements of the message, but its encodings or factors. Then every segment is a
  /// chunk.
  std::span<const std::byte> memory;
  std::size_t floats_per_element = 1;
  std::span<const int> workers;  ///< By rank: the worker of the job.
};

/// Links that record what is sent and received. Segments that follow each other, with the same peer
/// and in the same phase, are one chunk. So a ring has one event for a rank's part of the bucket
/// and a step, and `SegmentCount` of the part does not matter. Borrows both arguments.
class RecordedLinks : public Links {
 public:
  RecordedLinks(Links& under, const RecordedSum& sum) : under_(under), sum_(sum) {}
  /// Adds the chunks that are still open, also after an error.
  ~RecordedLinks() override;
  RecordedLinks(const RecordedLinks&) = delete;
  RecordedLinks& operator=(const RecordedLinks&) = delete;

  std::string NameOf(int peer) const override { return under_.NameOf(peer); }
  std::size_t window_bytes() const override { return under_.window_bytes(); }
  std::size_t element_bytes() const override { return under_.element_bytes(); }
  void Send(int peer, std::span<const std::byte> data, ChunkPhase phase) override;
  void Receive(int peer, std::span<std::byte> data, ChunkPhase phase) override;
  void ReceiveAdd(int peer, std::span<std::byte> data, std::span<std::byte> scratch,
                  ChunkPhase phase) override;

 private:
  /// As many chunks grow at once. A tree has six: two halves, each with a parent and two children.
  static constexpr std::size_t kOpen = 8;

  template <typename Call>
  void Recorded(ChunkAction action, int peer, std::span<const std::byte> data, ChunkPhase phase,
                const Call& call);
  ChunkEvent EventOf(std::span<const std::byte> data) const;
  void Extend(const ChunkEvent& part);

  Links& under_;
  const RecordedSum sum_;
  std::array<ChunkEvent, kOpen> open_;
  Timeline::Clock::time_point last_ = Timeline::Clock::now();  // when the last call ended
  std::size_t opened_ = 0;  // of all chunks so far; chunk i is in open_[i % kOpen]
};

}  // namespace ringside

#endif  // RINGSIDE_RING_TRANSPORTS_RECORDED_LINKS_H_

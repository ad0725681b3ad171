#ifndef RINGSIDE_PARAMSERVER_SERVER_SLICE_EVENTS_H_
#define RINGSIDE_PARAMSERVER_SERVER_SLICE_EVENTS_H_

#include <cstddef>
#include <cstdint>

#include "ringside/common/measure/timeline.h"
#include "ringside/paramserver/server/consistency.h"

namespace ringside {

/// Records in the timeline what happens to one slice: pushes, updates and answers. Does nothing
/// while the timeline is off. Thread-safe.
class SliceEvents {
 public:
  using Time = Timeline::Clock::time_point;

  /// What the slice is.
  struct Slice {
    int server = 0;
    int index = 0;
    int bucket = 0;
    std::size_t elements = 0;
    std::size_t reply_bytes = 0;  ///< On the wire.
  };

  SliceEvents(Timeline& timeline, const Slice& slice) : timeline_(timeline), slice_(slice) {}

  /// From `arrived` until now. `bytes`: of its gradient on the wire.
  void AddPush(const PushInfo& push, std::size_t bytes, Time arrived) const;
  /// From `begin` until now. `last`: the worker whose push completed the update; -1: none did.
  void AddUpdate(std::int64_t step, std::int64_t version, int last, Time begin) const;
  /// Now. `staleness` -1: the gradient was dropped.
  void AddAnswer(const PushInfo& push, std::int64_t version, std::int64_t staleness) const;

 private:
  ChunkEvent EventOf(ChunkPhase phase, ChunkAction action, std::int64_t step, int peer, Time begin,
                     Time end) const;

  Timeline& timeline_;
  const Slice slice_;
};

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_SERVER_SLICE_EVENTS_H_

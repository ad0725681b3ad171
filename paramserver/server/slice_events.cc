#include "ringside/paramserver/server/slice_events.h"

namespace ringside {

ChunkEvent SliceEvents::EventOf(ChunkPhase phase, ChunkAction action, std::int64_t step, int peer,
                                Time begin, Time end) const {
  ChunkEvent event;
  event.begin = begin;
  event.end = end;
  event.step = step;
  event.elements = slice_.elements;
  event.bucket = slice_.bucket;
  event.piece = slice_.index;
  event.server = slice_.server;
  event.peer = peer;
  event.phase = phase;
  event.action = action;
  return event;
}

void SliceEvents::AddPush(const PushInfo& push, std::size_t bytes, Time arrived) const {
  if (!timeline_.enabled()) return;
  ChunkEvent event = EventOf(ChunkPhase::kPush, ChunkAction::kReceive, push.step, push.worker,
                             arrived, Timeline::Clock::now());
  event.bytes = bytes;
  event.version = push.version;
  timeline_.AddChunk(event);
}

void SliceEvents::AddUpdate(std::int64_t step, std::int64_t version, int last, Time begin) const {
  if (!timeline_.enabled()) return;
  ChunkEvent event =
      EventOf(ChunkPhase::kPush, ChunkAction::kUpdate, step, last, begin, Timeline::Clock::now());
  event.version = version;
  timeline_.AddChunk(event);
}

void SliceEvents::AddAnswer(const PushInfo& push, std::int64_t version,
                            std::int64_t staleness) const {
  if (!timeline_.enabled()) return;
  const Time now = Timeline::Clock::now();
  ChunkEvent event =
      EventOf(ChunkPhase::kPull, ChunkAction::kSend, push.step, push.worker, now, now);
  event.bytes = slice_.reply_bytes;
  event.version = version;
  event.staleness = staleness;
  timeline_.AddChunk(event);
}

}  // namespace ringside

#include "ringside/ring/transports/recorded_links.h"

#include <algorithm>

namespace ringside {
namespace {

bool Continues(const ChunkEvent& chunk, const ChunkEvent& part) {
  return part.elements > 0 && chunk.action == part.action && chunk.peer == part.peer &&
         chunk.phase == part.phase && chunk.offset + chunk.elements == part.offset;
}

}  // namespace

RecordedLinks::~RecordedLinks() {
  for (std::size_t i = opened_ - std::min(opened_, kOpen); i < opened_; ++i) {
    sum_.timeline.AddChunk(open_[i % kOpen]);
  }
}

void RecordedLinks::Send(int peer, std::span<const std::byte> data, ChunkPhase phase) {
  Recorded(ChunkAction::kSend, peer, data, phase, [&] { under_.Send(peer, data, phase); });
}

void RecordedLinks::Receive(int peer, std::span<std::byte> data, ChunkPhase phase) {
  Recorded(ChunkAction::kReceive, peer, data, phase, [&] { under_.Receive(peer, data, phase); });
}

void RecordedLinks::ReceiveAdd(int peer, std::span<std::byte> data, std::span<std::byte> scratch,
                               ChunkPhase phase) {
  Recorded(ChunkAction::kReceive, peer, data, phase,
           [&] { under_.ReceiveAdd(peer, data, scratch, phase); });
}

template <typename Call>
void RecordedLinks::Recorded(ChunkAction action, int peer, std::span<const std::byte> data,
                             ChunkPhase phase, const Call& call) {
  ChunkEvent part = EventOf(data);
  part.action = action;
  part.phase = phase;
  part.peer = sum_.workers[static_cast<std::size_t>(peer)];
  // An algorithm does nothing between two calls, so one reading of the clock serves both.
  part.begin = last_;
  call();
  part.end = last_ = Timeline::Clock::now();
  Extend(part);
}

// The last element of an encoded sum may stand for fewer floats than the others.
ChunkEvent RecordedLinks::EventOf(std::span<const std::byte> data) const {
  const std::size_t unit = under_.element_bytes();
  const auto floats = [&](std::size_t bytes) {
    return std::min(bytes / unit * sum_.floats_per_element, sum_.message.data.size());
  };
  const auto begin = static_cast<std::size_t>(data.data() - sum_.memory.data());
  ChunkEvent event;
  event.step = sum_.message.step;
  event.bucket = sum_.message.bucket;
  event.offset = sum_.message.offset + floats(begin);
  event.elements = floats(begin + data.size()) - floats(begin);
  event.bytes = data.size();
  return event;
}

void RecordedLinks::Extend(const ChunkEvent& part) {
  for (std::size_t i = opened_ - std::min(opened_, kOpen); i < opened_; ++i) {
    ChunkEvent& chunk = open_[i % kOpen];
    if (!Continues(chunk, part)) continue;
    chunk.end = part.end;
    chunk.elements += part.elements;
    chunk.bytes += part.bytes;
    return;
  }
  if (opened_ >= kOpen) sum_.timeline.AddChunk(open_[opened_ % kOpen]);
  open_[opened_++ % kOpen] = part;
}

}  // namespace ringside

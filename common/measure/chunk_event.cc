#include "ringside/common/measure/chunk_event.h"

namespace ringside {

const char* ChunkPhaseName(ChunkPhase phase) {
  switch (phase) {
    case ChunkPhase::kReduceScatter:
      return "reduce-scatter";
    case ChunkPhase::kAllGather:
      return "all-gather";
    case ChunkPhase::kReduce:
      return "reduce";
    case ChunkPhase::kBroadcast:
      return "broadcast";
    case ChunkPhase::kExchange:
      return "exchange";
    case ChunkPhase::kGather:
      return "gather";
    case ChunkPhase::kPush:
      return "push";
    case ChunkPhase::kPull:
      return "pull";
    case ChunkPhase::kSlice:
      return "slice";
  }
  return "unknown";
}

const char* ChunkActionName(ChunkAction action) {
  switch (action) {
    case ChunkAction::kSend:
      return "send";
    case ChunkAction::kReceive:
      return "receive";
    case ChunkAction::kUpdate:
      return "update";
  }
  return "unknown";
}

}  // namespace ringside

#include "ringside/common/measure/activity.h"

namespace ringside {
namespace {

constexpr unsigned kWayShift = 32;

std::uint64_t Packed(const AwaitedPeer& peer) {
  return (static_cast<std::uint64_t>(peer.way) << kWayShift) |
         static_cast<std::uint32_t>(peer.index);
}

AwaitedPeer Unpacked(std::uint64_t packed) {
  const auto way = static_cast<AwaitedPeer::Way>(packed >> kWayShift);
  if (way == AwaitedPeer::Way::kNone) return {};
  return {way, static_cast<std::int32_t>(static_cast<std::uint32_t>(packed))};
}

}  // namespace

std::string AwaitedPeer::Name() const {
  if (way == Way::kNone) return {};
  return (way == Way::kAnswer ? "server " : "worker ") + std::to_string(index);
}

std::string AwaitedPeer::Text() const {
  switch (way) {
    case Way::kNone:
      return {};
    case Way::kReceive:
      return Name() + " has sent nothing more";
    case Way::kSend:
      return Name() + " takes nothing more";
    case Way::kMeet:
      return Name() + " has not come as far";
    case Way::kAnswer:
      return Name() + " has not answered";
    case Way::kPush:
      return Name() + " has not pushed";
  }
  return {};
}

bool Activity::waits_for_others() const {
  switch (kind) {
    case Kind::kStart:
    case Kind::kHeld:
    case Kind::kAwait:
    case Kind::kSettle:
    case Kind::kStop:
      return true;
    case Kind::kServe:
      return peer.way != AwaitedPeer::Way::kNone;
    case Kind::kUnknown:
    case Kind::kData:
    case Kind::kCompute:
    case Kind::kEvaluate:
    case Kind::kCheckpoint:
    case Kind::kEnded:
      return false;
  }
  return false;
}

std::string Activity::Text() const {
  const std::string of_step = "step " + std::to_string(step);
  const std::string done = std::to_string(step) + " steps";
  const std::string of_bucket = "bucket " + std::to_string(bucket) + " in " + of_step;
  const std::string because = peer.way == AwaitedPeer::Way::kNone ? "" : " (" + peer.Text() + ")";
  switch (kind) {
    case Kind::kUnknown:
      return {};
    case Kind::kStart:
      return "meets the other workers" + because;
    case Kind::kHeld:
      return "waits to begin " + of_step;
    case Kind::kData:
      return "waits for the data of " + of_step;
    case Kind::kCompute:
      return "computes " + of_step;
    case Kind::kAwait:
      return "waits for " + of_bucket + because;
    case Kind::kSettle:
      return "waits for the other workers after " + done + because;
    case Kind::kEvaluate:
      return "evaluates after " + done;
    case Kind::kCheckpoint:
      return "is at the checkpoint after " + done;
    case Kind::kEnded:
      return "has ended its training after " + done;
    case Kind::kStop:
      return "takes leave of the other workers" + because;
    case Kind::kServe:
      return because.empty() ? "serves" : "waits for pushes of " + of_bucket + because;
  }
  return {};
}

void ActivityBoard::Set(const Activity& activity, Clock::time_point since) {
  const std::lock_guard lock(mutex_);
  entry_ = {activity, since};
}

ActivityBoard::Entry ActivityBoard::Get() const {
  const AwaitedPeer peer = Unpacked(peer_.load(std::memory_order_relaxed));
  const std::lock_guard lock(mutex_);
  Entry entry = entry_;
  if (entry.activity.waits_for_others()) entry.activity.peer = peer;
  return entry;
}

void ActivityBoard::SetPeer(const AwaitedPeer& peer) {
  peer_.store(Packed(peer), std::memory_order_relaxed);
}

}  // namespace ringside

#include "ringside/paramserver/worker/transfers.h"

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include "ringside/common/core/deadline.h"
#include "ringside/common/core/errors.h"

namespace ringside {
namespace {

/// This wait is a last resort. A server names missing workers at the timeout, and the call itself
/// ends soon after.
constexpr std::chrono::milliseconds kAwaitGrace{800};

/// How often to look at buckets that wait only for time to pass.
constexpr std::chrono::milliseconds kLookAgain = SendWindows::kSilence / 5;

std::string TransferName(const FrameHeader& header) {
  return "transfer of bucket " + std::to_string(header.bucket) + ", step " +
         std::to_string(header.step);
}

}  // namespace

/// The state of one bucket. `mutex_` of the owner guards the fields, except that while the transfer
/// is under way only the link writes to `transfer.floats.in`.
class Transfers::Slot : public CallObserver {
 public:
  explicit Slot(Transfers& owner) : owner_(owner) {}

  void Sent(std::size_t bytes) override;
  void Received(const FrameHeader& header, const CopyCount& moved) override;
  void Failed(const CommError& error) override;

  enum class Phase {
    kIdle,
    kUnderWay,
    kReceived,  // in received_
    kDecoding,
  };

  Transfer transfer;
  Phase phase = Phase::kIdle;
  std::int64_t version = 0;  // of the last received parameters
  Timeline::Clock::time_point begun, called;

 private:
  Transfers& owner_;
};

Transfers::Transfers(std::vector<std::unique_ptr<ServerLink>> links, const SendWindows& windows,
                     int buckets, SendOrder order, std::chrono::milliseconds timeout,
                     WireCodec* codec, FailureLatch& failure, Recorder& recorder,
                     Timeline& timeline)
    : timeout_(timeout),
      codec_(codec),
      failure_(failure),
      recorder_(recorder),
      timeline_(timeline),
      queues_(links.size(), SendQueue(order)),
      windows_(windows),
      links_(std::move(links)) {
  for (int bucket = 0; bucket < buckets; ++bucket) slots_.push_back(std::make_unique<Slot>(*this));
  received_.reserve(slots_.size());
  for (SendQueue& queue : queues_) queue.Reserve(buckets);
  thread_ = std::jthread([this](const std::stop_token& stop) { Run(stop); });
}

Transfers::~Transfers() {
  thread_ = {};    // asks it to stop and joins
  links_.clear();  // no slot is called after this
}

void Transfers::Begin(const Transfer& transfer) {
  const std::lock_guard lock(mutex_);
  Slot& slot = *slots_[transfer.header.bucket];
  if (slot.phase != Slot::Phase::kIdle) {
    throw InternalError(TransferName(transfer.header) + " began before the last one of step " +
                        std::to_string(slot.transfer.header.step) + " was awaited");
  }
  slot.transfer = transfer;
  slot.transfer.header.version = slot.version;
  slot.transfer.header.payload_bytes = transfer.floats.out.size_bytes();
  slot.phase = Slot::Phase::kUnderWay;
  slot.begun = Timeline::Clock::now();
  queues_[static_cast<std::size_t>(transfer.server)].Add(static_cast<int>(transfer.header.bucket));
  windows_.Queue(transfer.server);
  send_.notify_all();
}

void Transfers::Await(int bucket) {
  Slot& slot = *slots_[static_cast<std::size_t>(bucket)];
  const Deadline deadline = Deadline::After(timeout_ + kAwaitGrace);
  std::unique_lock lock(mutex_);
  const auto settled = [&] {
    return slot.phase == Slot::Phase::kIdle || slot.phase == Slot::Phase::kReceived ||
           failure_.failed();
  };
  if (!done_.wait_until(lock, deadline.at(), settled)) {
    failure_.Set(CommError(link(slot.transfer.server).name(), TransferName(slot.transfer.header),
                           "there was no answer in time"));
  }
  failure_.Check();
  if (slot.phase == Slot::Phase::kReceived) Decode(slot, lock, kComputeLane);
}

CopyCount Transfers::copies() const {
  const std::lock_guard lock(mutex_);
  return copies_;
}

void Transfers::Run(const std::stop_token& stop) {
  try {
    CarryOut(stop);
  } catch (...) {
    failure_.Set(std::current_exception());
    const std::lock_guard lock(mutex_);
    done_.notify_all();
  }
}

void Transfers::CarryOut(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (!stop.stop_requested()) {
    send_.wait(lock, stop, [&] { return AnyQueued() || !received_.empty(); });
    Slot* slot = nullptr;
    const auto found = [&] { return (slot = NextToSend()) != nullptr || !received_.empty(); };
    if (!send_.wait_for(lock, stop, kLookAgain, found) || stop.stop_requested()) continue;
    if (slot == nullptr) {
      Decode(*received_.front(), lock, kCommunicationLane);
      continue;
    }
    lock.unlock();
    StartCall(*slot);
    lock.lock();
  }
}

bool Transfers::AnyQueued() const {
  return std::ranges::any_of(queues_, [](const SendQueue& queue) { return !queue.empty(); });
}

void Transfers::NotifyCapacityFreed() {
  if (AnyQueued()) send_.notify_all();
}

// Takes the next bucket of the server with the least progress among those that may begin.
Transfers::Slot* Transfers::NextToSend() {
  const auto now = SendWindows::Clock::now();
  Slot* best = nullptr;
  for (const SendQueue& queue : queues_) {
    if (queue.empty()) continue;
    Slot* slot = slots_[static_cast<std::size_t>(queue.next())].get();
    const Transfer& transfer = slot->transfer;
    if (!windows_.MayBegin(transfer.server, transfer.floats.out.size_bytes(), now)) continue;
    if (best == nullptr ||
        windows_.Begun(transfer.server) < windows_.Begun(best->transfer.server)) {
      best = slot;
    }
  }
  if (best == nullptr) return nullptr;
  const int server = best->transfer.server;
  windows_.Begin(server, best->transfer.floats.out.size_bytes(), now);
  queues_[static_cast<std::size_t>(server)].RemoveNext();
  return best;
}

// Called without the mutex: a transport may call the slot before this function returns.
void Transfers::StartCall(Slot& slot) {
  const Transfer transfer = slot.transfer;
  slot.called = Timeline::Clock::now();
  timeline_.Add(SpanKind::kQueue, slot.begun, slot.called, transfer.header.step,
                static_cast<int>(transfer.header.bucket), kQueueLane);
  if (!transfer.encode_from.empty()) {
    const auto bucket = static_cast<int>(transfer.header.bucket);
    const ScopedSpan span(timeline_, SpanKind::kCodec, transfer.header.step, bucket,
                          kCommunicationLane);
    codec_->Encode(bucket, transfer.encode_from, {transfer.floats.offset, transfer.header.step});
  }
  link(transfer.server).Call(transfer.header, transfer.floats, slot);
}

void Transfers::Slot::Sent(std::size_t bytes) {
  const std::lock_guard lock(owner_.mutex_);
  owner_.windows_.Sent(transfer.server, bytes);
  owner_.NotifyCapacityFreed();
}

void Transfers::Slot::Received(const FrameHeader& header, const CopyCount& moved) {
  owner_.timeline_.Add(SpanKind::kWire, called, Timeline::Clock::now(), transfer.header.step,
                       static_cast<int>(transfer.header.bucket), kCommunicationLane);
  if (transfer.counted) {
    owner_.recorder_.AddPayload(transfer.floats.out.size_bytes(), transfer.floats.in.size_bytes());
    if (header.kind == FrameKind::kPushPull) owner_.Record(header);
  }
  const std::lock_guard lock(owner_.mutex_);
  owner_.copies_ += moved;
  if (header.kind == FrameKind::kPushPull || header.kind == FrameKind::kPull) {
    version = header.version;
  }
  if (transfer.decode_to.empty()) {
    phase = Phase::kIdle;
  } else {
    phase = Phase::kReceived;
    owner_.received_.push_back(this);
    owner_.send_.notify_all();
  }
  owner_.windows_.Answered(transfer.server, transfer.floats.out.size_bytes(),
                           SendWindows::Clock::now());
  owner_.NotifyCapacityFreed();
  owner_.done_.notify_all();
}

void Transfers::Decode(Slot& slot, std::unique_lock<std::mutex>& lock, int lane) {
  std::erase(received_, &slot);
  slot.phase = Slot::Phase::kDecoding;
  const FrameHeader& header = slot.transfer.header;
  const auto bucket = static_cast<int>(header.bucket);
  lock.unlock();
  {
    const ScopedSpan span(timeline_, SpanKind::kCodec, header.step, bucket, lane);
    codec_->DecodeReply(bucket, slot.transfer.decode_to);
  }
  lock.lock();
  slot.phase = Slot::Phase::kIdle;
  done_.notify_all();
}

void Transfers::Record(const FrameHeader& reply) {
  if (reply.dropped) {
    recorder_.AddDroppedPush();
  } else {
    recorder_.AddStaleness(reply.staleness);
  }
}

void Transfers::Slot::Failed(const CommError& error) {
  owner_.failure_.Set(error);
  const std::lock_guard lock(owner_.mutex_);
  owner_.done_.notify_all();
}

}  // namespace ringside

#include "paramserver/transfers.h"

#include <algorithm>
#include <string>
#include <utility>

#include "common/deadline.h"
#include "common/errors.h"

namespace ringside {
namespace {

/// A server names missing workers at the timeout and the call itself ends soon after: this wait is
/// the last resort.
constexpr std::chrono::milliseconds kAwaitGrace{800};

/// How often buckets are looked at that wait for nothing but time.
constexpr std::chrono::milliseconds kLookAgain = SendWindows::kSilence / 5;

}  // namespace

/// What is known of one bucket. Fields are guarded by `mutex_` of the owner, except that while the
/// transfer is under way the link alone writes to `transfer.in`.
class Transfers::Slot : public CallObserver {
 public:
  explicit Slot(Transfers& owner) : owner_(owner) {}

  void Sent(std::size_t bytes) override;
  void Received(const FrameHeader& header, const CopyCount& moved) override;
  void Failed(const CommError& error) override;

  Transfer transfer;
  bool under_way = false;
  std::int64_t version = 0;  // of the parameters that came last
  Timeline::Clock::time_point begun, called;

 private:
  Transfers& owner_;
};

Transfers::Transfers(std::vector<std::unique_ptr<ServerLink>> links, const SendWindows& windows,
                     int buckets, SendOrder order, std::chrono::milliseconds timeout,
                     FailureLatch& failure, Recorder& recorder, Timeline& timeline)
    : timeout_(timeout),
      failure_(failure),
      recorder_(recorder),
      timeline_(timeline),
      queues_(links.size(), SendQueue(order)),
      windows_(windows),
      links_(std::move(links)) {
  for (int bucket = 0; bucket < buckets; ++bucket) slots_.push_back(std::make_unique<Slot>(*this));
  thread_ = std::jthread([this](const std::stop_token& stop) { Run(stop); });
}

Transfers::~Transfers() {
  thread_ = {};    // asks it to stop and joins
  links_.clear();  // no slot is called after this
}

void Transfers::Begin(const Transfer& transfer) {
  const std::lock_guard lock(mutex_);
  Slot& slot = *slots_[transfer.header.bucket];
  if (slot.under_way) throw InternalError("a bucket was submitted twice without an await");
  slot.transfer = transfer;
  slot.transfer.header.version = slot.version;
  slot.transfer.header.payload_bytes = transfer.out.size_bytes();
  slot.under_way = true;
  slot.begun = Timeline::Clock::now();
  queues_[static_cast<std::size_t>(transfer.server)].Add(static_cast<int>(transfer.header.bucket));
  windows_.Queue(transfer.server);
  send_.notify_all();
}

void Transfers::Await(int bucket) {
  Slot& slot = *slots_[static_cast<std::size_t>(bucket)];
  const Deadline deadline = Deadline::After(timeout_ + kAwaitGrace);
  std::unique_lock lock(mutex_);
  const bool done =
      done_.wait_until(lock, deadline.at(), [&] { return !slot.under_way || failure_.failed(); });
  if (!done) {
    failure_.Set(CommError(link(slot.transfer.server).name(),
                           "transfer of bucket " + std::to_string(bucket) + ", step " +
                               std::to_string(slot.transfer.header.step),
                           "there was no answer in time"));
  }
  failure_.Check();
}

CopyCount Transfers::copies() const {
  const std::lock_guard lock(mutex_);
  return copies_;
}

void Transfers::Run(const std::stop_token& stop) {
  while (true) {
    Slot* slot = nullptr;
    {
      std::unique_lock lock(mutex_);
      const auto found = [&] { return (slot = NextToSend()) != nullptr; };
      while (slot == nullptr && !stop.stop_requested()) {
        send_.wait(lock, stop, [&] { return AnyQueued(); });
        send_.wait_for(lock, stop, kLookAgain, found);
      }
      if (slot == nullptr) return;
    }
    StartCall(*slot);
  }
}

bool Transfers::AnyQueued() const {
  return std::ranges::any_of(queues_, [](const SendQueue& queue) { return !queue.empty(); });
}

void Transfers::RoomWasMade() {
  if (AnyQueued()) send_.notify_all();
}

// The next bucket of the server that is least far of those that may begin; takes it out of the
// queue.
Transfers::Slot* Transfers::NextToSend() {
  const auto now = SendWindows::Clock::now();
  Slot* best = nullptr;
  for (const SendQueue& queue : queues_) {
    if (queue.empty()) continue;
    Slot* slot = slots_[static_cast<std::size_t>(queue.next())].get();
    const Transfer& transfer = slot->transfer;
    if (!windows_.MayBegin(transfer.server, transfer.out.size_bytes(), now)) continue;
    if (best == nullptr ||
        windows_.Begun(transfer.server) < windows_.Begun(best->transfer.server)) {
      best = slot;
    }
  }
  if (best == nullptr) return nullptr;
  const int server = best->transfer.server;
  windows_.Begin(server, best->transfer.out.size_bytes(), now);
  queues_[static_cast<std::size_t>(server)].RemoveNext();
  return best;
}

// Without the mutex: gRPC may call the slot before this returns.
void Transfers::StartCall(Slot& slot) {
  const Transfer transfer = slot.transfer;
  slot.called = Timeline::Clock::now();
  timeline_.Add(SpanKind::kQueue, slot.begun, slot.called, transfer.header.step,
                static_cast<int>(transfer.header.bucket), kQueueLane);
  link(transfer.server).Call(transfer.header, transfer.out, transfer.in, slot);
}

void Transfers::Slot::Sent(std::size_t bytes) {
  const std::lock_guard lock(owner_.mutex_);
  owner_.windows_.Sent(transfer.server, bytes);
  owner_.RoomWasMade();
}

void Transfers::Slot::Received(const FrameHeader& header, const CopyCount& moved) {
  owner_.timeline_.Add(SpanKind::kWire, called, Timeline::Clock::now(), transfer.header.step,
                       static_cast<int>(transfer.header.bucket), kCommunicationLane);
  if (transfer.counted) {
    owner_.recorder_.AddPayload(transfer.out.size_bytes(), transfer.in.size_bytes());
    if (header.kind == FrameKind::kPushPull) owner_.Record(header);
  }
  const std::lock_guard lock(owner_.mutex_);
  owner_.copies_ += moved;
  if (header.kind == FrameKind::kPushPull || header.kind == FrameKind::kPull) {
    version = header.version;
  }
  under_way = false;
  owner_.windows_.Answered(transfer.server, transfer.out.size_bytes(), SendWindows::Clock::now());
  owner_.RoomWasMade();
  owner_.done_.notify_all();
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

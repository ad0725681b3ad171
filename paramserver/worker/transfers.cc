#include "ringside/paramserver/worker/transfers.h"

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include "ringside/common/base/deadline.h"
#include "ringside/common/base/errors.h"
#include "ringside/paramserver/wire/checksum.h"

namespace ringside {
namespace {

constexpr std::chrono::milliseconds kLookInterval{250};

std::string TransferName(const FrameHeader& header) {
  return "transfer of bucket " + std::to_string(header.bucket) + ", step " +
         std::to_string(header.step);
}

}  // namespace

/// The state of one slice. `mutex_` of the owner guards the fields, except that while the transfer
/// is under way only the link writes to `transfer.floats.in`.
class Transfers::Slot : public CallObserver {
 public:
  Slot(Transfers& owner, const Slice& own_slice) : slice(own_slice), owner_(owner) {}

  void Sent(std::size_t bytes) override;
  void Received(const FrameHeader& header, const CopyCount& moved) override;
  void Failed(const CommError& error) override;

  enum class Phase {
    kIdle,
    kUnderWay,
    kReceived,  // its reply is not decoded yet
  };

  /// Whether it belongs to a step. Transfers at a pause or a stop have no step of their own.
  bool trains() const { return transfer.counted && transfer.header.kind == FrameKind::kPushPull; }

  const Slice& slice;
  Transfer transfer;
  Phase phase = Phase::kIdle;
  std::int64_t version = 0;  // of the last received parameters
  Timeline::Clock::time_point called_at{}, sent_at{};
  int calls = 0, sends = 0;  // how often it was called, and how often `Sent` told of it

 private:
  /// Adds the two ways of a call that has ended to the timeline.
  void AddChunks(const FrameHeader& reply) const;

  Transfers& owner_;
};

Transfers::Transfers(Parts parts)
    : slices_(parts.slices),
      positions_(SendPositions(parts.slices, parts.order)),
      first_server_(static_cast<std::size_t>(parts.first_server)),
      by_position_(positions_.size()),
      patience_(parts.timeout + parts.grace),
      codec_(parts.codec),
      check_pushes_(parts.check_pushes),
      failure_(parts.failure),
      recorder_(parts.recorder),
      timeline_(parts.timeline),
      buckets_(static_cast<std::size_t>(parts.slices.buckets())),
      queues_(parts.links.size()),
      windows_(parts.limits, parts.slices.slices()),
      links_(std::move(parts.links)) {
  for (int slice = 0; slice < slices_.slices(); ++slice) {
    slots_.push_back(std::make_unique<Slot>(*this, slices_.slice(slice)));
    const int position = positions_[static_cast<std::size_t>(slice)];
    by_position_[static_cast<std::size_t>(position)] = slots_.back().get();
  }
  received_.reserve(slots_.size());
  for (SendQueue& queue : queues_) queue.Reserve(slices_.slices());
  thread_ = std::jthread([this](const std::stop_token& stop) { Run(stop); });
}

Transfers::~Transfers() {
  thread_ = {};    // asks it to stop and joins
  links_.clear();  // no slot is called after this
}

void Transfers::Begin(std::span<const Transfer> transfers) {
  if (transfers.empty()) return;
  const std::lock_guard lock(mutex_);
  for (const Transfer& transfer : transfers) {
    const Slot& slot = SlotOf(transfer.header);
    if (slot.phase == Slot::Phase::kIdle) continue;
    throw InternalError(TransferName(transfer.header) + " began before the last one of step " +
                        std::to_string(slot.transfer.header.step) + " was awaited");
  }
  const Transfer& first = transfers.front();
  StateOf(first.header) = {.under_way = static_cast<int>(transfers.size()),
                           .must_encode = !first.encode_from.empty() && codec_->encodes_buckets(),
                           .begun_at = Timeline::Clock::now()};
  for (const Transfer& transfer : transfers) {
    Slot& slot = SlotOf(transfer.header);
    slot.transfer = transfer;
    slot.transfer.header.version = slot.version;
    slot.transfer.header.payload_bytes = transfer.floats.out.size_bytes();
    slot.phase = Slot::Phase::kUnderWay;
    queues_[static_cast<std::size_t>(slot.slice.server)].Add(PositionOf(transfer.header));
    windows_.Queue(slot.slice.server);
  }
  send_.notify_all();
}

void Transfers::Await(int bucket) {
  const Deadline deadline = Deadline::After(patience_);
  std::unique_lock lock(mutex_);
  if (!WaitForAnswers(bucket, deadline, lock)) {
    const Slot& slot = Unanswered(bucket);
    failure_.Set(CommError(link(slot.slice.server).name(), TransferName(slot.transfer.header),
                           "there was no answer in time"));
  }
  const BucketState& state = buckets_[static_cast<std::size_t>(bucket)];
  done_.wait(lock, [&] { return state.encoded == 0 || failure_.failed(); });
  failure_.Check();
}

bool Transfers::WaitForAnswers(int bucket, const Deadline& deadline,
                               std::unique_lock<std::mutex>& lock) {
  const BucketState& state = buckets_[static_cast<std::size_t>(bucket)];
  const auto answered = [&] { return state.under_way == 0 || failure_.failed(); };
  // Most waits end at the first look, and show nothing.
  while (!done_.wait_until(lock, std::min(deadline.at(), Deadline::Clock::now() + kLookInterval),
                           answered)) {
    const int server = Unanswered(bucket).slice.server;
    recorder_.activity().SetPeer({AwaitedPeer::Way::kAnswer, server});
    if (deadline.expired()) return false;
  }
  recorder_.activity().SetPeer({});
  return true;
}

const Transfers::Slot& Transfers::Unanswered(int bucket) const {
  const auto first = slots_.begin() + slices_.first_slice(bucket);
  const auto end = slots_.begin() + slices_.end_slice(bucket);
  return **std::find_if(first, end, [](const std::unique_ptr<Slot>& slot) {
    return slot->phase == Slot::Phase::kUnderWay;
  });
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
    Slot* slot = nullptr;
    send_.wait(lock, stop, [&] { return (slot = NextToSend()) != nullptr || !received_.empty(); });
    if (stop.stop_requested()) return;
    if (slot == nullptr) {
      Decode(*received_.front(), lock);
      continue;
    }
    NoteBegin(*slot);
    if (StateOf(slot->transfer.header).must_encode) {
      EncodeBucket(*slot, lock);
      continue;
    }
    ++slot->calls;
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

// Takes the next slice of the server with the least progress among those that may begin. How long
// the slices of a bucket are is known when it is encoded. Encoding takes long, so what can leave at
// once leaves before.
Transfers::Slot* Transfers::NextToSend() {
  Slot* best = nullptr;
  Slot* to_encode = nullptr;
  const auto is_before = [&](const Slot* slot, const Slot* other) {
    return other == nullptr ||
           windows_.Begun(slot->slice.server) < windows_.Begun(other->slice.server);
  };
  for (std::size_t i = 0; i < queues_.size(); ++i) {
    const SendQueue& queue = queues_[(first_server_ + i) % queues_.size()];
    if (queue.empty()) continue;
    Slot* slot = by_position_[static_cast<std::size_t>(queue.next())];
    const CallFloats& floats = slot->transfer.floats;
    if (StateOf(slot->transfer.header).must_encode) {
      if (is_before(slot, to_encode)) to_encode = slot;
    } else if (windows_.MayBegin(slot->slice.server, queue.next(), floats.out.size_bytes(),
                                 floats.in.size_bytes()) &&
               is_before(slot, best)) {
      best = slot;
    }
  }
  if (best == nullptr) return to_encode;
  const int server = best->slice.server;
  SendQueue& queue = queues_[static_cast<std::size_t>(server)];
  const CallFloats& floats = best->transfer.floats;
  windows_.Begin(server, queue.next(), floats.out.size_bytes(), floats.in.size_bytes());
  queue.RemoveNext();
  return best;
}

void Transfers::EncodeBucket(const Slot& slot, std::unique_lock<std::mutex>& lock) {
  const int bucket = slot.slice.bucket;
  const std::int64_t step = slot.transfer.header.step;
  const std::span<const float> grads = slot.transfer.encode_from;
  lock.unlock();
  {
    const ScopedSpan span(timeline_, SpanKind::kCodec, step, bucket, kCommunicationLane);
    codec_->EncodeBucket(bucket, grads, step);
  }
  lock.lock();
  for (int slice = slices_.first_slice(bucket); slice < slices_.end_slice(bucket); ++slice) {
    Transfer& transfer = slots_[static_cast<std::size_t>(slice)]->transfer;
    transfer.floats.out = codec_->Push(slice);
    transfer.header.payload_bytes = transfer.floats.out.size_bytes();
    transfer.encode_from = {};
  }
  buckets_[static_cast<std::size_t>(bucket)].must_encode = false;
}

void Transfers::NoteBegin(const Slot& slot) {
  const FrameHeader& header = slot.transfer.header;
  BucketState& bucket = StateOf(header);
  if (bucket.called_at != Timeline::Clock::time_point{}) return;
  bucket.called_at = Timeline::Clock::now();
  if (!slot.trains()) return;
  timeline_.Add(SpanKind::kQueue, bucket.begun_at, bucket.called_at, header.step, slot.slice.bucket,
                kQueueLane);
}

// Called without the mutex: a transport may call the slot before this function returns.
void Transfers::StartCall(Slot& slot) {
  const Transfer transfer = slot.transfer;
  FrameHeader header = transfer.header;
  if (!transfer.encode_from.empty()) {
    const ScopedSpan span(timeline_, SpanKind::kCodec, header.step, slot.slice.bucket,
                          kCommunicationLane);
    codec_->Encode(static_cast<int>(header.slice), transfer.encode_from, header.step);
  }
  if (check_pushes_ && header.kind == FrameKind::kPushPull) {
    const Piece payload = std::as_bytes(transfer.floats.out);
    header.checksum = ChecksumOf(header, {&payload, 1});
  }
  if (timeline_.enabled()) slot.called_at = Timeline::Clock::now();
  link(slot.slice.server).Call(header, transfer.floats, slot);
}

void Transfers::Slot::Sent(std::size_t bytes) {
  const std::lock_guard lock(owner_.mutex_);
  // A call's bytes may leave after its answer has come, when the next call is under way.
  if (++sends == calls && owner_.timeline_.enabled()) sent_at = Timeline::Clock::now();
  owner_.windows_.Sent(slice.server, bytes);
  owner_.NotifyCapacityFreed();
}

void Transfers::Slot::Received(const FrameHeader& header, const CopyCount& moved) {
  if (transfer.counted) {
    owner_.recorder_.AddPayload(transfer.floats.out.size_bytes(), transfer.floats.in.size_bytes());
    if (header.kind == FrameKind::kPushPull && slice.leads) owner_.Record(header);
  }
  const std::lock_guard lock(owner_.mutex_);
  owner_.copies_ += moved;
  if (trains() && owner_.timeline_.enabled()) AddChunks(header);
  if (header.kind == FrameKind::kPushPull || header.kind == FrameKind::kPull) {
    version = header.version;
  }
  if (transfer.decode_to.empty()) {
    phase = Phase::kIdle;
  } else {
    phase = Phase::kReceived;
    ++owner_.StateOf(transfer.header).encoded;
    owner_.received_.push_back(this);
    owner_.send_.notify_all();
  }
  owner_.windows_.Answered(slice.server, owner_.PositionOf(transfer.header));
  owner_.NotifyCapacityFreed();
  BucketState& bucket = owner_.StateOf(transfer.header);
  if (--bucket.under_way > 0) return;
  if (trains()) {
    owner_.timeline_.Add(SpanKind::kWire, bucket.called_at, Timeline::Clock::now(),
                         transfer.header.step, slice.bucket, kCommunicationLane);
  }
  owner_.done_.notify_all();
}

// `Sent` may come after the answer. Then sending ended with the answer.
void Transfers::Slot::AddChunks(const FrameHeader& reply) const {
  const CallFloats& floats = transfer.floats;
  const auto now = Timeline::Clock::now();
  ChunkEvent event;
  event.step = transfer.header.step;
  event.bucket = slice.bucket;
  event.piece = static_cast<int>(transfer.header.slice);
  event.offset = floats.offset;
  event.elements = slice.size;
  event.peer = slice.server;
  event.begin = called_at;
  event.end = sent_at > called_at ? sent_at : now;
  event.bytes = floats.out.size_bytes();
  event.version = transfer.header.version;
  owner_.timeline_.AddChunk(event);
  event.begin = event.end;
  event.end = now;
  event.bytes = floats.in.size_bytes();
  event.version = reply.version;
  event.staleness = reply.dropped ? -1 : reply.staleness;
  event.phase = ChunkPhase::kPull;
  event.action = ChunkAction::kReceive;
  owner_.timeline_.AddChunk(event);
}

void Transfers::Decode(Slot& slot, std::unique_lock<std::mutex>& lock) {
  std::erase(received_, &slot);
  const FrameHeader header = slot.transfer.header;
  lock.unlock();
  {
    const ScopedSpan span(timeline_, SpanKind::kCodec, header.step, slot.slice.bucket,
                          kCommunicationLane);
    codec_->DecodeReply(static_cast<int>(header.slice), slot.transfer.decode_to);
  }
  lock.lock();
  slot.phase = Slot::Phase::kIdle;
  if (--StateOf(header).encoded == 0) done_.notify_all();
}

void Transfers::Record(const FrameHeader& reply) {
  if (reply.dropped) {
    recorder_.AddDroppedPush();
  } else {
    recorder_.AddStaleness(reply.staleness);
  }
}

void Transfers::Slot::Failed(const CommError& error) {
  if (error.divergence().empty()) {
    owner_.failure_.Set(error);
  } else {
    owner_.failure_.Set(DivergedError(error.divergence()));
  }
  const std::lock_guard lock(owner_.mutex_);
  owner_.done_.notify_all();
}

}  // namespace ringside

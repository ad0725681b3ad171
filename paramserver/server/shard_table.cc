#include "ringside/paramserver/server/shard_table.h"

#include <unistd.h>

#include <cmath>
#include <exception>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "ringside/common/base/dilated_clock.h"
#include "ringside/paramserver/wire/checksum.h"
#include "ringside/paramserver/wire/wire_codec.h"

namespace ringside {
namespace {

/// More than a job has. Versions, which may count the steps of all workers, fit into 64 bits.
constexpr std::int64_t kMaxFirstStep = std::int64_t{1} << 40;
/// Calls of a worker, besides two for each slice.
constexpr std::size_t kSpareCalls = 64;

std::string SliceName(std::uint32_t slice, std::uint32_t bucket) {
  return "slice " + std::to_string(slice) + " of bucket " + std::to_string(bucket);
}

std::string SliceName(const PlanInfo::ServedSlice& slice) {
  return SliceName(slice.index, slice.bucket);
}

/// In bytes. The largest number where the system does not tell.
std::uint64_t MemoryOfMachine() {
  const auto pages = sysconf(_SC_PHYS_PAGES);
  const auto page = sysconf(_SC_PAGESIZE);
  if (pages <= 0 || page <= 0) return std::numeric_limits<std::uint64_t>::max();
  return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page);
}

// Before any memory is taken for the shards.
void CheckPlan(const PlanInfo& plan) {
  if (plan.step < 0 || plan.step > kMaxFirstStep) {
    throw RefusedError(RefusalCode::kInvalid,
                       "no job begins with step " + std::to_string(plan.step));
  }
  std::uint64_t elements = 0;
  for (const PlanInfo::ServedSlice& slice : plan.slices) {
    if (slice.elements > FrameHeader::kMaxPayload / sizeof(float)) {
      throw RefusedError(RefusalCode::kInvalid, SliceName(slice) + " is larger than 2 GiB");
    }
    elements += slice.elements;
  }
  if (elements > MemoryOfMachine() / sizeof(float)) {
    throw RefusedError(RefusalCode::kInvalid, "a plan of " + std::to_string(elements) +
                                                  " parameters, more than this machine can hold");
  }
}

std::string NameOfWorker(std::uint32_t worker) { return "worker " + std::to_string(worker); }

Refusal DroppedRefusal(std::uint32_t worker) {
  return {RefusalCode::kDropped, "the job goes on without " + NameOfWorker(worker),
          NameOfWorker(worker)};
}

void CheckBytes(std::uint64_t bytes, std::size_t expected) {
  if (bytes == expected) return;
  throw RefusedError(RefusalCode::kInvalid, "a payload of " + std::to_string(bytes) +
                                                " bytes for a slice of " +
                                                std::to_string(expected));
}

void CheckFloats(std::uint64_t bytes, std::size_t elements) {
  CheckBytes(bytes, elements * sizeof(float));
}

void CheckRate(const FrameHeader& header) {
  const std::optional<double>& rate = header.learning_rate;
  if (!rate || (*rate >= 0 && std::isfinite(*rate))) return;
  throw RefusedError(RefusalCode::kInvalid,
                     "the learning rate of a push is " + std::to_string(*rate));
}

// The worker to blame is the one that the header names. Whether the push changed there, on its way
// or here cannot be told.
void CheckChecksum(const FrameHeader& header, const Payload& gradient) {
  if (header.checksum == ChecksumOf(header, gradient.pieces())) return;
  throw RefusedError({RefusalCode::kInvalid,
                      "the push of " + NameOfWorker(header.worker) + " of " +
                          SliceName(header.slice, header.bucket) + ", step " +
                          std::to_string(header.step) +
                          (header.checksum ? " arrived with another checksum than it left with"
                                           : " has no checksum"),
                      NameOfWorker(header.worker)});
}

void CheckPart(std::uint32_t part, int lowest, const ShardServer& shard) {
  if (part >= static_cast<std::uint32_t>(lowest) &&
      part <= static_cast<std::uint32_t>(shard.state_per_parameter())) {
    return;
  }
  throw RefusedError(RefusalCode::kOutOfRange,
                     "there is no part " + std::to_string(part) + ": the optimizer keeps " +
                         std::to_string(shard.state_per_parameter()) + " state vectors");
}

}  // namespace

ShardTable::ShardTable(const ServerContext& context, MakeConsistency make_consistency, Work work)
    : context_(context),
      make_consistency_(std::move(make_consistency)),
      work_(work),
      codec_(MakeWireCodec(context.options.codec)) {}

void ShardTable::Start(const PlanInfo& plan) {
  const std::lock_guard lock(mutex_);
  CheckAlive();
  CheckWorld(plan);
  if (plan.worker == 0) return Create(plan);
  if (!plan_) {
    throw RefusedError(RefusalCode::kPrecondition, "worker 0 has not brought the plan yet");
  }
  if (plan.fingerprint != plan_->fingerprint || plan.step != plan_->step) {
    throw RefusedError({RefusalCode::kPrecondition,
                        "worker " + std::to_string(plan.worker) +
                            " has another bucket plan or first step than worker 0",
                        "worker " + std::to_string(plan.worker)});
  }
}

void ShardTable::CheckWorld(const PlanInfo& plan) const {
  CheckWorker(plan.worker);
  const auto same = [](std::uint32_t theirs, int ours) {
    return theirs == static_cast<std::uint32_t>(ours);
  };
  if (same(plan.workers, context_.workers) && same(plan.servers, context_.servers) &&
      same(plan.server, context_.index)) {
    return;
  }
  throw RefusedError(RefusalCode::kPrecondition,
                     "this is server " + std::to_string(context_.index) + " of " +
                         std::to_string(context_.servers) + ", for " +
                         std::to_string(context_.workers) + " workers: worker " +
                         std::to_string(plan.worker) + " expects another");
}

void ShardTable::Create(const PlanInfo& plan) {
  if (plan_) throw RefusedError(RefusalCode::kDuplicate, "the job has been started already");
  CheckPlan(plan);
  std::map<std::uint32_t, std::unique_ptr<ShardServer>> shards;
  std::optional<OptimizerOptions> optimizer;
  if (work_ == Work::kUpdate) optimizer = context_.optimizer;
  for (const PlanInfo::ServedSlice& slice : plan.slices) {
    auto shard =
        std::make_unique<ShardServer>(slice, context_.workers, optimizer, make_consistency_(),
                                      context_.timeline, context_.options.codec, context_.index);
    shard->Start(plan.step);
    if (!shards.emplace(slice.index, std::move(shard)).second) {
      throw RefusedError(RefusalCode::kInvalid, SliceName(slice) + " is in the plan twice");
    }
  }
  shards_ = std::move(shards);
  for (const auto& [index, shard] : shards_) all_.push_back(shard.get());
  plan_ = plan;
  slices_.store(all_.size(), std::memory_order_relaxed);
}

void ShardTable::Load(const FrameHeader& header, const Payload& values) {
  ShardServer& shard = Find(header);
  if (header.worker != 0) {
    throw RefusedError(RefusalCode::kPrecondition, "only worker 0 brings initial parameters");
  }
  CheckPart(header.part, 0, shard);
  CheckFloats(header.payload_bytes, shard.elements());
  shard.Load(static_cast<int>(header.part), values);
}

ParameterReply ShardTable::Pull(const FrameHeader& header) {
  ShardServer& shard = Find(header);
  CheckFloats(header.payload_bytes, 0);
  return shard.Pull(header.step);
}

void ShardTable::Retire(const FrameHeader& header) {
  ShardServer& shard = Find(header);
  CheckFloats(header.payload_bytes, 0);
  shard.Retire(static_cast<int>(header.worker), header.step);
}

ParameterRef ShardTable::ReadState(const FrameHeader& header) {
  ShardServer& shard = Find(header);
  CheckFloats(header.payload_bytes, 0);
  CheckPart(header.part, 1, shard);
  return shard.ReadState(static_cast<int>(header.part));
}

void ShardTable::Push(const FrameHeader& header, PayloadPtr gradient, PendingReply& reply) {
  ShardServer& shard = Find(header);
  const PushInfo push{static_cast<int>(header.worker), header.step, header.version,
                      header.learning_rate, header.repeats};
  // Also for a late repeat, which is refused. A worker that has ended is then named later.
  if (header.repeats > 0) OnWorkerBack(header.worker);
  // A worker may receive the answer where its gradient was. So a part of an answer that was lost
  // may lie in a push that is sent again. Nobody reads it there.
  if (context_.options.Get(kCheckPushes) && !shard.HasHad(push)) CheckChecksum(header, *gradient);
  CheckRate(header);
  CheckPushBytes(header.payload_bytes, shard);
  if (codec_ != nullptr) gradient = TakeEncoding(*gradient, *codec_, shard.elements(), *encodings_);
  GuardShard([&] {
    shard.Push(push, std::move(gradient), reply, Deadline::After(context_.comm.timeout));
  });
}

void ShardTable::Drop(int worker) {
  const auto index = static_cast<std::uint32_t>(worker);
  {
    const std::lock_guard lock(mutex_);
    CheckInWorld(index);
    dropped_.insert(index);
  }
  const Refusal refusal = DroppedRefusal(index);
  for (ShardServer* shard : All()) {
    GuardShard([&] { shard->Drop(worker, refusal); });
  }
}

template <typename Action>
void ShardTable::GuardShard(const Action& action) {
  try {
    action();
  } catch (const RefusedError&) {
    throw;
  } catch (const DivergedError& error) {
    const Refusal refusal{RefusalCode::kDiverged, error.problem(), {}};
    Fail(refusal);
    throw RefusedError(refusal);
  } catch (const std::exception& error) {
    const std::string server = "server " + std::to_string(context_.index);
    Fail({RefusalCode::kAborted, server + " has failed: " + error.what(), server});
    throw;
  }
}

void ShardTable::CheckLength(const FrameHeader& header) const {
  const ShardServer& shard = Find(header);
  if (header.kind == FrameKind::kPushPull) return CheckPushBytes(header.payload_bytes, shard);
  CheckFloats(header.payload_bytes, header.kind == FrameKind::kLoad ? shard.elements() : 0);
}

// Nothing that saves no floats is sent encoded. `TakeEncoding` finds every other wrong length.
void ShardTable::CheckPushBytes(std::uint64_t bytes, const ShardServer& shard) const {
  const EncodingParts* parts = codec_ == nullptr ? nullptr : codec_->parts();
  if (parts == nullptr || !parts->PartLengthsVary()) return CheckBytes(bytes, shard.push_bytes());
  if (bytes > shard.elements() * sizeof(float)) CheckFloats(bytes, shard.elements());
}

std::size_t ShardTable::most_calls_of_a_worker() const {
  return 2 * slices_.load(std::memory_order_relaxed) + kSpareCalls;
}

std::size_t ShardTable::most_calls() const {
  return static_cast<std::size_t>(context_.workers) * most_calls_of_a_worker();
}

bool ShardTable::OnCallCancelled(const FrameHeader& header, PendingReply& reply) {
  ShardServer* shard = nullptr;
  {
    const std::lock_guard lock(mutex_);
    const auto found = shards_.find(header.slice);
    if (found == shards_.end()) return false;
    shard = found->second.get();
  }
  if (context_.drops_lost_workers) return shard->CancelPush(reply, std::nullopt);
  return shard->CancelPush(reply, Deadline::After(DilatedClock::ToMachine(kGoneGrace)));
}

void ShardTable::OnWorkerConnected(std::uint32_t worker) {
  const auto now = Deadline::Clock::now();
  for (ShardServer* shard : All()) shard->OnWorkerConnected(static_cast<int>(worker), now);
}

void ShardTable::OnWorkerBack(std::uint32_t worker) {
  const Deadline until = Deadline::After(DilatedClock::ToMachine(ShardServer::kBackGrace));
  for (ShardServer* shard : All()) shard->OnWorkerBack(static_cast<int>(worker), until);
}

void ShardTable::FailExpired(Deadline::Clock::time_point now) {
  for (ShardServer* shard : All()) {
    if (const auto refusal = shard->Expired(now)) return Fail(*refusal);
  }
}

void ShardTable::Fail(const Refusal& refusal) {
  Refusal first;
  {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = refusal;
    first = *failure_;
  }
  for (ShardServer* shard : All()) shard->RefuseAll(first);
}

std::span<ShardServer* const> ShardTable::All() const {
  const std::lock_guard lock(mutex_);
  return all_;
}

ShardCounters ShardTable::counters() const {
  const std::lock_guard lock(mutex_);
  ShardCounters sum;
  for (const auto& [index, shard] : shards_) sum += shard->counters();
  return sum;
}

ActivityBoard::Entry ShardTable::Doing() const {
  ActivityBoard::Entry longest{.activity = {.kind = Activity::Kind::kServe},
                               .since = ActivityBoard::Clock::now()};
  for (const ShardServer* shard : All()) {
    if (const auto wait = shard->LongestWait(); wait && wait->since < longest.since) {
      longest = *wait;
    }
  }
  return longest;
}

ShardServer& ShardTable::Find(const FrameHeader& header) const {
  const std::lock_guard lock(mutex_);
  CheckAlive();
  CheckWorker(header.worker);
  const auto found = shards_.find(header.slice);
  if (found != shards_.end()) return *found->second;
  if (!plan_) throw RefusedError(RefusalCode::kPrecondition, "the job has not been started");
  throw RefusedError(RefusalCode::kOutOfRange,
                     SliceName(header.slice, header.bucket) + " is not on this server");
}

void ShardTable::CheckWorker(std::uint32_t worker) const {
  CheckInWorld(worker);
  if (dropped_.contains(worker)) throw RefusedError(DroppedRefusal(worker));
}

void ShardTable::CheckInWorld(std::uint32_t worker) const {
  if (worker < static_cast<std::uint32_t>(context_.workers)) return;
  throw RefusedError(RefusalCode::kOutOfRange, "there is no worker " + std::to_string(worker) +
                                                   " among " + std::to_string(context_.workers));
}

void ShardTable::CheckAlive() const {
  if (failure_) throw RefusedError(*failure_);
}

}  // namespace ringside

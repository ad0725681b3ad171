// In a step the gradient of each bucket goes to its server (M bytes in all), and the parameters
// come back (M bytes). At the start worker 0 loads the servers, then all workers pull.
#include "ringside/paramserver/worker/ps_strategy.h"

#include <cstddef>
#include <utility>

#include "ringside/common/core/bucket.h"
#include "ringside/common/core/deadline.h"
#include "ringside/common/core/errors.h"
#include "ringside/common/strategy/plan_agreement.h"
#include "ringside/paramserver/transports/core/server_assignment.h"

namespace ringside {

void PsStrategy::Start(FlatSpace& space, const BucketPlan& plan, const StartPoint& from) {
  failure_.Check();
  calls_.Start(space, plan);
  failure_.Guard([&] {
    space_ = &space;
    plan_ = &plan;
    first_step_ = from.step;
    server_of_ = AssignToServers(plan, context_.world);
    CheckSizes();
    MakeCodec();
    AgreeOnPlan(from);
    Connect();
    const bool brings = context_.world.rank == 0;
    if (brings) StartServers(from.step);
    if (brings) LoadServers(from);
    Barrier("ps/loaded", context_.comm.rendezvous_timeout());
    if (!brings) StartServers(from.step);
    PullAll(/*counted=*/false);
    Barrier("ps/started", context_.comm.rendezvous_timeout());
  });
}

void PsStrategy::CheckSizes() const {
  for (int bucket = 0; bucket < plan_->buckets(); ++bucket) {
    const std::uint64_t bytes = plan_->range(bucket).size() * sizeof(float);
    if (bytes <= FrameHeader::kMaxPayload) continue;
    throw ConfigError("bucket " + std::to_string(bucket) + " has " + std::to_string(bytes) +
                      " bytes, more than a parameter server's message can hold (" +
                      std::to_string(FrameHeader::kMaxPayload) + "): choose smaller buckets");
  }
}

void PsStrategy::MakeCodec() {
  const CodecOptions& options = context_.options.codec;
  if (!options.encodes()) return;
  std::vector<std::size_t> sizes;
  for (int bucket = 0; bucket < plan_->buckets(); ++bucket) {
    sizes.push_back(plan_->range(bucket).size());
  }
  codec_ = std::make_unique<WireCodec>(options, context_.world.rank, plan_->elements(), sizes,
                                       context_.recorder);
}

// Every rank finds a difference by itself, before any server starts, and names the same worker.
void PsStrategy::AgreeOnPlan(const StartPoint& from) {
  const std::vector<std::string> texts =
      StoreAllGather(context_.store, context_.world, "ps/plan", SummaryOf(*plan_, from).ToText(),
                     Deadline::After(context_.comm.rendezvous_timeout()));
  std::vector<PlanSummary> by_rank;
  for (std::size_t rank = 0; rank < texts.size(); ++rank) {
    by_rank.push_back(PlanSummaryFromText(texts[rank], static_cast<int>(rank)));
  }
  CheckPlanAgreement(by_rank);
}

std::vector<ServerAddress> PsStrategy::ServerAddresses(const Deadline& deadline) {
  std::vector<ServerAddress> addresses;
  for (int server = 0; server < context_.world.servers; ++server) {
    const std::string index = std::to_string(server);
    try {
      const std::string text = context_.store.Get("ps/" + index, deadline);
      addresses.push_back(transports_.ParseAddress(text));
    } catch (const CommError& error) {
      throw CommError("server " + index, "start", error.what());
    }
  }
  return addresses;
}

void PsStrategy::Connect() {
  const Deadline deadline = Deadline::After(context_.comm.rendezvous_timeout());
  const std::vector<ServerAddress> addresses = ServerAddresses(deadline);
  const bool is_one_host = std::ranges::all_of(addresses, &ServerAddress::IsHere);
  const std::vector<ServerSendLimits> shares =
      PlanSendLimits(*plan_, server_of_, context_.world, context_.options.order,
                     is_one_host ? LinkScope::kIntraHost : LinkScope::kInterHost);
  std::vector<std::unique_ptr<ServerLink>> links;
  for (int server = 0; server < context_.world.servers; ++server) {
    const auto index = static_cast<std::size_t>(server);
    try {
      links.push_back(
          transports_.Connect(server, addresses[index], shares[index], *space_, context_.comm));
    } catch (const CommError& error) {
      throw CommError("server " + std::to_string(server), "start", error.what());
    }
  }
  transfers_ = std::make_unique<Transfers>(
      std::move(links), SendWindows(shares), plan_->buckets(), context_.options.order,
      context_.comm.timeout, codec_.get(), failure_, context_.recorder, context_.timeline);
}

void PsStrategy::StartServers(std::int64_t step) {
  for (int server = 0; server < context_.world.servers; ++server) {
    PlanInfo info{.worker = static_cast<std::uint32_t>(context_.world.rank),
                  .workers = static_cast<std::uint32_t>(context_.world.workers),
                  .server = static_cast<std::uint32_t>(server),
                  .servers = static_cast<std::uint32_t>(context_.world.servers),
                  .fingerprint = plan_->Fingerprint(),
                  .step = step,
                  .buckets = {}};
    for (int bucket = 0; context_.world.rank == 0 && bucket < plan_->buckets(); ++bucket) {
      if (server_of_[static_cast<std::size_t>(bucket)] != server) continue;
      info.buckets.push_back({static_cast<std::uint32_t>(bucket), plan_->range(bucket).size()});
    }
    transfers_->link(server).Start(info);
  }
}

void PsStrategy::LoadServers(const StartPoint& from) {
  const std::size_t elements = plan_->elements();
  const std::size_t vectors = elements == 0 ? 0 : from.optimizer_state.size() / elements;
  for (std::size_t part = 0; part <= vectors; ++part) {
    const std::span<const float> values =
        part == 0 ? space_->params()
                  : from.optimizer_state.subspan((part - 1) * elements, elements);
    ForEachBucket([&](int bucket) {
      Transfer transfer = MakeTransfer(FrameKind::kLoad, bucket);
      transfer.header.part = static_cast<std::uint32_t>(part);
      transfer.floats.out = values.subspan(plan_->range(bucket).begin, plan_->range(bucket).size());
      if (part == 0) transfer.floats.out_vector = FlatVector::kParams;
      return transfer;
    });
  }
}

void PsStrategy::PullAll(bool counted) {
  ForEachBucket([&](int bucket) {
    Transfer transfer = MakeTransfer(FrameKind::kPull, bucket);
    transfer.header.step = barriers_;
    transfer.floats.in = MakeBucket(*space_, *plan_, bucket, 0).params;
    transfer.floats.in_vector = FlatVector::kParams;
    transfer.counted = counted;
    return transfer;
  });
}

// Without this, workers with more steps would wait for a worker that has fewer steps and is at the
// barrier, while that worker waits for them.
void PsStrategy::Retire() {
  ForEachBucket([&](int bucket) {
    Transfer transfer = MakeTransfer(FrameKind::kRetire, bucket);
    transfer.header.step = barriers_ + 1;
    return transfer;
  });
}

void PsStrategy::ForEachBucket(const std::function<Transfer(int bucket)>& make) {
  for (int bucket = 0; bucket < plan_->buckets(); ++bucket) transfers_->Begin(make(bucket));
  for (int bucket = 0; bucket < plan_->buckets(); ++bucket) transfers_->Await(bucket);
}

Transfer PsStrategy::MakeTransfer(FrameKind kind, int bucket) const {
  Transfer transfer;
  transfer.header.kind = kind;
  transfer.header.worker = static_cast<std::uint32_t>(context_.world.rank);
  transfer.header.bucket = static_cast<std::uint32_t>(bucket);
  transfer.header.step = first_step_;
  transfer.server = server_of_[static_cast<std::size_t>(bucket)];
  transfer.floats.offset = plan_->range(bucket).begin;
  return transfer;
}

void PsStrategy::Submit(const Bucket& bucket) {
  failure_.Check();
  calls_.Submit(bucket);
  failure_.Guard([&] { transfers_->Begin(PushOf(bucket)); });
}

Transfer PsStrategy::PushOf(const Bucket& bucket) const {
  Transfer transfer = MakeTransfer(FrameKind::kPushPull, bucket.index);
  transfer.header.step = bucket.step;
  transfer.floats = {.out = bucket.grads,
                     .in = bucket.params,
                     .offset = bucket.offset,
                     .out_vector = FlatVector::kGrads,
                     .in_vector = FlatVector::kParams};
  transfer.counted = true;
  if (codec_ != nullptr) {
    transfer.floats.out = codec_->PushBuffer(bucket.index);
    transfer.floats.out_vector = FlatVector::kNone;
    transfer.encode_from = bucket.grads;
    if (codec_->decodes_replies()) {
      transfer.floats.in = codec_->ReplyBuffer(bucket.index);
      transfer.floats.in_vector = FlatVector::kNone;
      transfer.decode_to = bucket.params;
    }
  }
  return transfer;
}

void PsStrategy::Await(const Bucket& bucket) {
  failure_.Check();
  if (!calls_.Await(bucket)) return;
  failure_.Guard([&] { transfers_->Await(bucket.index); });
}

void PsStrategy::Settle() {
  failure_.Check();
  calls_.Settle();
  failure_.Guard([&] {
    Retire();
    Barrier("ps/settle/" + std::to_string(barriers_++), context_.comm.barrier_timeout);
    PullAll(/*counted=*/true);
  });
}

void PsStrategy::ReadOptimizerState(std::span<float> out) {
  failure_.Check();
  calls_.ReadOptimizerState();
  failure_.Guard([&] {
    const std::size_t elements = plan_->elements();
    const std::size_t vectors = elements == 0 ? 0 : out.size() / elements;
    for (std::size_t vector = 0; vector < vectors; ++vector) {
      ForEachBucket([&](int bucket) {
        const BucketPlan::Range& range = plan_->range(bucket);
        Transfer transfer = MakeTransfer(FrameKind::kReadState, bucket);
        transfer.header.part = static_cast<std::uint32_t>(vector + 1);
        transfer.floats.in = out.subspan(vector * elements + range.begin, range.size());
        return transfer;
      });
    }
  });
}

void PsStrategy::Stop() {
  failure_.Check();
  calls_.Stop();
  failure_.Guard([&] {
    for (int bucket = 0; bucket < plan_->buckets(); ++bucket) transfers_->Await(bucket);
    Retire();
    Barrier("ps/stop", context_.comm.barrier_timeout);
  });
  transfers_.reset();
}

void PsStrategy::Barrier(const std::string& name, std::chrono::milliseconds patience) {
  StoreAllGather(context_.store, context_.world, name, "", Deadline::After(patience));
}

}  // namespace ringside

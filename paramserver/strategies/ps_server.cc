#include "ringside/paramserver/strategies/ps_server.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <utility>

namespace ringside {
namespace {

std::chrono::milliseconds WatchInterval(std::chrono::milliseconds timeout) {
  return std::clamp(timeout / 20, std::chrono::milliseconds(1), std::chrono::milliseconds(100));
}

}  // namespace

PsServer::PsServer(const ServerContext& context, const TransportEntry& transport,
                   ShardTable::MakeConsistency make_consistency, ShardTable::Work work)
    : context_(context),
      table_(context, std::move(make_consistency), work),
      listener_(transport.listen(transport, context_, table_)) {
  context_.store.Set("ps/" + std::to_string(context_.index), listener_->address().ToText());
  watchdog_ = std::jthread([this](const std::stop_token& stop) { Watch(stop); });
}

PsServer::~PsServer() { PsServer::Stop(); }

ServerReport PsServer::Stop() {
  if (!stopped_) {
    table_.Fail({RefusalCode::kAborted, Name() + " is stopping", Name()});
    listener_->Stop();
    watchdog_ = {};
    stopped_ = true;
  }
  const ShardCounters counters = table_.counters();
  return {.bytes_received = counters.bytes_received,
          .bytes_sent = counters.bytes_sent,
          .staleness = counters.staleness,
          .updates = counters.updates,
          .dropped_pushes = counters.dropped};
}

ShardCounters PsServer::counters() const {
  ShardCounters counters = table_.counters();
  counters.copies += listener_->copies();
  return counters;
}

// Checks the pushes of all shards at regular intervals. So a late push is found within the timeout
// plus one interval, and a push itself costs nothing. Silent connections are found in the same way.
void PsServer::Watch(const std::stop_token& stop) {
  const auto interval = WatchInterval(context_.comm.timeout);
  std::unique_lock lock(watch_mutex_);
  while (!watch_.wait_for(lock, stop, interval, [&] { return stop.stop_requested(); })) {
    table_.FailExpired(Deadline::Clock::now());
    listener_->CloseSilent(Deadline::Clock::now());
  }
}

}  // namespace ringside

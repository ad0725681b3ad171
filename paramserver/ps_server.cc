#include "paramserver/ps_server.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "paramserver/listener.h"

namespace ringside {
namespace {

std::chrono::milliseconds WatchInterval(std::chrono::milliseconds timeout) {
  return std::clamp(timeout / 20, std::chrono::milliseconds(1), std::chrono::milliseconds(100));
}

}  // namespace

class PsServer::Impl {
 public:
  Impl(const ServerContext& context, ShardTable::MakeConsistency make_consistency)
      : context_(context),
        table_(context, std::move(make_consistency)),
        listener_(Listen(context_, table_)) {
    context_.store.Set("ps/" + std::to_string(context_.index), listener_->address().ToText());
    watchdog_ = std::jthread([this](const std::stop_token& stop) { Watch(stop); });
  }

  ~Impl() { Stop(); }

  ServerReport Stop() {
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

  ShardCounters counters() const {
    ShardCounters counters = table_.counters();
    counters.copies += listener_->copies();
    return counters;
  }

 private:
  std::string Name() const { return "server " + std::to_string(context_.index); }
  void Watch(const std::stop_token& stop);

  const ServerContext context_;
  ShardTable table_;
  std::unique_ptr<Listener> listener_;
  std::jthread watchdog_;
  bool stopped_ = false;
};

// Pushes of all shards are looked at every so often: late ones are found within the timeout and one
// interval, at no cost to a push. So are connections that say nothing.
void PsServer::Impl::Watch(const std::stop_token& stop) {
  const auto interval = WatchInterval(context_.comm.timeout);
  std::mutex mutex;
  std::condition_variable_any wake;
  std::unique_lock lock(mutex);
  while (!wake.wait_for(lock, stop, interval, [&] { return stop.stop_requested(); })) {
    table_.FailExpired(Deadline::Clock::now());
    listener_->CloseSilent(Deadline::Clock::now());
  }
}

PsServer::PsServer(const ServerContext& context, ShardTable::MakeConsistency make_consistency)
    : impl_(std::make_unique<Impl>(context, std::move(make_consistency))) {}

PsServer::~PsServer() = default;

ServerReport PsServer::Stop() { return impl_->Stop(); }

ShardCounters PsServer::counters() const { return impl_->counters(); }

}  // namespace ringside

#ifndef RINGSIDE_PARAMSERVER_STRATEGIES_PS_SERVER_H_
#define RINGSIDE_PARAMSERVER_STRATEGIES_PS_SERVER_H_

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "ringside/common/strategy/strategy_entry.h"
#include "ringside/paramserver/server/shard_table.h"
#include "ringside/paramserver/transports/core/transport_entry.h"

namespace ringside {

/// A parameter server: listens over its transport and publishes its address in the store under
/// "ps/<index>" (`ServerAddress::ToText`). Calls run on the transport's threads; one thread of its
/// own ends pushes that have waited too long.
class PsServer : public Server {
 public:
  /// Throws `CommError` when the address cannot be listened on.
  PsServer(const ServerContext& context, const TransportEntry& transport,
           ShardTable::MakeConsistency make_consistency,
           ShardTable::Work work = ShardTable::Work::kUpdate);
  ~PsServer() override;

  ServerReport Stop() override;
  void DropWorker(int worker) override { table_.Drop(worker); }
  ActivityBoard::Entry Doing() const override { return table_.Doing(); }
  /// What the server has done so far.
  ShardCounters counters() const;

 private:
  std::string Name() const { return "server " + std::to_string(context_.index); }
  void Watch(const std::stop_token& stop);

  const ServerContext context_;
  ShardTable table_;
  std::unique_ptr<Listener> listener_;
  // Here and not in the thread: it allocates memory, and a step must not.
  std::mutex watch_mutex_;
  std::condition_variable_any watch_;
  std::jthread watchdog_;
  bool stopped_ = false;
};

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_STRATEGIES_PS_SERVER_H_

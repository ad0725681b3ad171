#ifndef RINGSIDE_PARAMSERVER_PS_SERVER_H_
#define RINGSIDE_PARAMSERVER_PS_SERVER_H_

#include <memory>

#include "common/strategy_entry.h"
#include "paramserver/shard_table.h"

namespace ringside {

/// A parameter server: listens over the transport that the options ask for and publishes its
/// address in the store under "ps/<index>" (`ServerAddress::ToText`). Calls run on the transport's
/// threads; one thread of its own ends pushes that have waited too long.
class PsServer : public Server {
 public:
  /// Throws `CommError` when the address cannot be listened on.
  PsServer(const ServerContext& context, ShardTable::MakeConsistency make_consistency);
  ~PsServer() override;

  ServerReport Stop() override;
  /// What the server has done so far.
  ShardCounters counters() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_PS_SERVER_H_

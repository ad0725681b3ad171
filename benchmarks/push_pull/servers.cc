#include "benchmarks/push_pull/servers.h"

#include <unistd.h>

#include <string>

#include "benchmarks/peers/bytes_push_pull.h"
#include "benchmarks/peers/sockets_push_pull.h"
#include "ringside/paramserver/server/consistency.h"
#include "ringside/paramserver/strategies/ps_server.h"

namespace ringside::push_pull {
namespace {

void AwaitEnd(int done) {
  char byte = 0;
  [[maybe_unused]] const auto got = read(done, &byte, 1);
}

}  // namespace

std::string SocketsKey(int index) { return "sockets/" + std::to_string(index); }

void RunServer(const Settings& settings, int index, const std::string& transport, Store& store,
               Shared& shared, int done) {
  const CommOptions comm;
  const Schedule schedule({.base = 1.0});
  const OptimizerOptions sgd;
  Timeline timeline;
  ServerContext context{index, settings.servers, settings.workers, store, comm,
                        sgd,   schedule,         timeline};
  context.options.Set(kPsTransport, transport);
  const TransportTable transports;
  PsServer server(context, transports.Of(context.options),
                  [&] { return MakeSynchronous(settings.workers, schedule); });
  AwaitEnd(done);
  const ServerReport report = server.Stop();
  if (transport != "grpc") return;
  const auto slot = static_cast<std::size_t>(index);
  shared.moved_by_server[slot] = static_cast<double>(server.counters().copies.total());
  shared.received_by_server[slot] = static_cast<double>(report.bytes_received);
}

void RunBytesServer(const Settings& settings, Store& store, int done) {
  const BytesServer server(settings.workers, settings.elements(), settings.bucket_elements());
  store.Set("bytes", server.endpoint());
  AwaitEnd(done);
}

void RunSocketsServer(const Settings& settings, int index, Store& store, int done) {
  const SocketsServer server(settings.workers, settings.PartOf(index).size * sizeof(float),
                             settings.bucket_mib << 20);
  store.Set(SocketsKey(index), std::to_string(server.port()));
  AwaitEnd(done);
}

}  // namespace ringside::push_pull

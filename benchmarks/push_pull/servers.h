#ifndef RINGSIDE_BENCHMARKS_PUSH_PULL_SERVERS_H_
#define RINGSIDE_BENCHMARKS_PUSH_PULL_SERVERS_H_

#include <string>

#include "benchmarks/push_pull/settings.h"
#include "benchmarks/push_pull/shared.h"
#include "ringside/common/core/store.h"

namespace ringside::push_pull {

/// The key of the port of a sockets server.
std::string SocketsKey(int index);

// Each of these is the whole work of a server process. It puts its address into `store` and serves
// until `done` is readable (a byte, or its end).

void RunServer(const Settings& settings, int index, const std::string& transport, Store& store,
               Shared& shared, int done);
void RunBytesServer(const Settings& settings, Store& store, int done);
void RunSocketsServer(const Settings& settings, int index, Store& store, int done);

}  // namespace ringside::push_pull

#endif  // RINGSIDE_BENCHMARKS_PUSH_PULL_SERVERS_H_

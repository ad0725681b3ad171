#ifndef RINGSIDE_BENCHMARKS_PUSH_PULL_SERVERS_H_
#define RINGSIDE_BENCHMARKS_PUSH_PULL_SERVERS_H_

#include "benchmarks/push_pull/settings.h"
#include "benchmarks/push_pull/shared.h"
#include "common/store.h"

namespace ringside::push_pull {

// Each is a process's whole work: says in `store` where it is reached, serves until `done` can be
// read (any byte, or its end).

void RunServer(const Settings& settings, int index, PsTransport transport, Store& store,
               Shared& shared, int done);
void RunBytesServer(const Settings& settings, Store& store, int done);
void RunTcpServer(const Settings& settings, Store& store, int done);

}  // namespace ringside::push_pull

#endif  // RINGSIDE_BENCHMARKS_PUSH_PULL_SERVERS_H_

#include "ringside/paramserver/transports/transport_table.h"

#include <algorithm>
#include <array>
#include <string>

#include "ringside/common/core/errors.h"
#include "ringside/paramserver/transports/grpc_link.h"
#include "ringside/paramserver/transports/grpc_listener.h"
#include "ringside/paramserver/transports/shm_link.h"
#include "ringside/paramserver/transports/shm_listener.h"
#include "ringside/paramserver/wire/ps_transport.h"

namespace ringside {
namespace {

constexpr std::array kTransports{
    TransportEntry{
        .name = "grpc",
        .medium = "tcp",
        .connect = ConnectGrpcOverTcp,
        .listen = ListenGrpcOverTcp,
    },
    TransportEntry{
        .name = "uds",
        .medium = "uds",
        .needs_one_host = true,
        .connect = ConnectGrpcOverUds,
        .listen = ListenGrpcOverUds,
    },
    TransportEntry{
        .name = "shm",
        .medium = "shm",
        .needs_one_host = true,
        .shares_memory = true,
        .connect = ConnectShm,
        .listen = ListenShm,
    },
};

}  // namespace

std::span<const TransportEntry> ServerTransports() { return kTransports; }

const TransportEntry* FindServerTransport(std::string_view name) {
  const auto found = std::ranges::find(kTransports, name, &TransportEntry::name);
  return found == kTransports.end() ? nullptr : &*found;
}

const TransportEntry& ServerTransportNamed(std::string_view name) {
  if (const TransportEntry* found = FindServerTransport(name)) return *found;
  std::string known;
  for (const TransportEntry& entry : kTransports) {
    known += (known.empty() ? "" : ", ") + std::string(entry.name);
  }
  throw ConfigError("no transport to servers is called '" + std::string(name) + "'; there are " +
                    known);
}

const TransportEntry& ServerTransportOf(const StrategyOptions& options) {
  return ServerTransportNamed(kPsTransport.NameOf(options.Get(kPsTransport)));
}

std::optional<OptionRefusal> CheckServerCodec(const StrategyOptions& options) {
  const CodecOptions& codec = options.codec;
  if (codec.entry->scheme == AggregationScheme::kFactors) {
    return OptionRefusal{"codec",
                         "powersgd sums one factor before it computes the other, which would take "
                         "two rounds with a server; take an all-reduce, or topk, sign, int8, fp16"};
  }
  if (auto refusal = CheckErrorFeedback(codec)) return refusal;
  if (codec.encodes() && ServerTransportOf(options).shares_memory) {
    return OptionRefusal{"codec",
                         "nothing travels through shared memory: encoding would only cost time; "
                         "take ps-transport grpc, or fp32"};
  }
  return std::nullopt;
}

}  // namespace ringside

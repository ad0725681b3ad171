#include "ringside/paramserver/transports/transport_table.h"

#include <algorithm>
#include <array>
#include <sstream>

#include "ringside/common/base/errors.h"
#include "ringside/paramserver/transports/grpc/grpc_link.h"
#include "ringside/paramserver/transports/grpc/grpc_listener.h"
#include "ringside/paramserver/transports/shm/shm_link.h"
#include "ringside/paramserver/transports/shm/shm_listener.h"
#include "ringside/paramserver/transports/tcp/tcp_link.h"
#include "ringside/paramserver/transports/tcp/tcp_listener.h"

namespace ringside {
namespace {

constexpr std::array kBuiltIn{
    TransportEntry{
        .name = "grpc",
        .medium = "http2",
        .remark = "HTTP/2",
        .takes_tls = true,
        .connect = ConnectGrpcOverTcp,
        .listen = ListenGrpcOverTcp,
    },
    TransportEntry{
        .name = "tcp",
        .medium = "tcp",
        .remark = "plain frames",
        .connect = ConnectTcpLink,
        .listen = ListenTcp,
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

std::string Quoted(std::string_view text) { return "'" + std::string(text) + "'"; }

/// "a, b and c".
std::string Enumerated(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " and " : ", ";
    text += names[i];
  }
  return text;
}

void Require(bool holds, const TransportEntry& entry, const char* what) {
  if (!holds) throw ConfigError("transport " + Quoted(entry.name) + " has no " + what);
}

}  // namespace

TransportTable::TransportTable(std::span<const TransportEntry* const> added) {
  for (const TransportEntry& entry : kBuiltIn) entries_.push_back(&entry);
  for (const TransportEntry* entry : added) {
    Require(!entry->name.empty(), *entry, "name");
    Require(!entry->medium.empty(), *entry, "medium");
    Require(entry->connect != nullptr, *entry, "function 'connect'");
    Require(entry->listen != nullptr, *entry, "function 'listen'");
    if (Find(entry->name) != nullptr) {
      throw ConfigError("two entries of kind 'transport' are called " + Quoted(entry->name) +
                        "; rename one");
    }
    entries_.push_back(entry);
  }
}

const TransportEntry* TransportTable::Find(std::string_view name) const {
  const auto found = std::ranges::find(entries_, name, &TransportEntry::name);
  return found == entries_.end() ? nullptr : *found;
}

const TransportEntry& TransportTable::Named(std::string_view name) const {
  if (const TransportEntry* found = Find(name)) return *found;
  std::string known;
  for (const TransportEntry* entry : entries_) {
    known += (known.empty() ? "" : ", ") + std::string(entry->name);
  }
  throw ConfigError("no transport to servers is called " + Quoted(name) + "; there are " + known);
}

const TransportEntry& TransportTable::Of(const StrategyOptions& options) const {
  return Named(options.Get(kPsTransport));
}

ServerAddress TransportTable::ParseAddress(const std::string& text) const {
  std::istringstream words(text);
  std::string name;
  ServerAddress parsed;
  words >> name >> parsed.address >> parsed.host;
  parsed.transport = Find(name);
  if (parsed.transport == nullptr || parsed.address.empty() ||
      parsed.host.empty() == parsed.transport->needs_one_host) {
    throw CommError("a server", "start", "it has published no address but '" + text + "'");
  }
  return parsed;
}

std::vector<std::string> TransportTable::OneHostNames() const {
  std::vector<std::string> names;
  for (const TransportEntry* entry : entries_) {
    if (entry->needs_one_host) names.emplace_back(entry->name);
  }
  return names;
}

OptionDeclaration TransportTable::Option() const {
  std::vector<std::string> names;
  std::string anywhere;
  for (const TransportEntry* entry : entries_) {
    names.emplace_back(entry->name);
    if (entry->needs_one_host) continue;
    anywhere += (anywhere.empty() ? "" : ", ") + std::string(entry->name);
    if (!entry->remark.empty()) anywhere += " (" + std::string(entry->remark) + ")";
  }
  auto option = OptionDeclaration::OneOf(kPsTransport, "transport", std::move(names));
  option.help += ": " + anywhere + ", or " + Enumerated(OneHostNames()) + " on one host";
  return option;
}

std::string TransportTable::OneHostReason() const {
  return Enumerated(OneHostNames()) + " need workers and servers on one host";
}

std::unique_ptr<ServerLink> TransportTable::Connect(int server, const ServerAddress& address,
                                                    const LinkSetup& setup, FlatSpace& space,
                                                    const CommOptions& comm) const {
  if (!address.host.empty() && address.host != HostIdentity()) {
    throw ConfigError("server " + std::to_string(server) + " is on another host: --" +
                      std::string(kPsTransport.name) + " " + OneHostReason() + "; use " +
                      std::string(kPsTransport.default_value));
  }
  return address.transport->connect(server, address, setup, space, comm);
}

std::optional<OptionRefusal> CheckServerCodec(const CodecOptions& codec,
                                              const TransportEntry& transport) {
  if (codec.entry->scheme == AggregationScheme::kFactors) {
    return OptionRefusal{"codec",
                         "powersgd sums one factor before it computes the other, which would take "
                         "two rounds with a server; take an all-reduce, or topk, sign, int8, fp16"};
  }
  if (auto refusal = CheckErrorFeedback(codec)) return refusal;
  if (codec.encodes() && transport.shares_memory) {
    return OptionRefusal{"codec",
                         "nothing travels through shared memory: encoding would only cost time; "
                         "take ps-transport " +
                             std::string(kPsTransport.default_value) + ", or fp32"};
  }
  return std::nullopt;
}

}  // namespace ringside

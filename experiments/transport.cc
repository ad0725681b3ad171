#include "experiments/transport.h"

#include <algorithm>

#include "experiments/spec_keys.h"
#include "experiments/strategy_table.h"

namespace ringside {
namespace {

constexpr std::string_view kKey = "ps-transport";

std::string_view Medium(std::string_view transport) {
  return transport == "grpc" ? "tcp" : transport;
}

bool ReadsKey(const StrategyEntry& entry) {
  return std::ranges::find(entry.keys, kKey) != entry.keys.end();
}

}  // namespace

std::string TransportOf(const RunSpec& spec, int hosts) {
  const StrategyEntry* entry = FindStrategy(spec.strategy);
  if (entry == nullptr) return {};
  if (ReadsKey(*entry)) return FindSpecKey(kKey)->get(spec).get<std::string>();
  if (entry->transport == nullptr) return {};
  return std::string(entry->transport(spec.options, spec.workers, hosts));
}

bool ServersNeedOneHost(const RunSpec& spec) {
  const StrategyEntry* entry = FindStrategy(spec.strategy);
  return entry != nullptr && ReadsKey(*entry) && spec.options.ps_transport != PsTransport::kGrpc;
}

bool AlikeTransports(std::string_view a, std::string_view b) {
  return a.empty() || b.empty() || Medium(a) == Medium(b);
}

}  // namespace ringside

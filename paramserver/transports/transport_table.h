#ifndef RINGSIDE_PARAMSERVER_TRANSPORTS_TRANSPORT_TABLE_H_
#define RINGSIDE_PARAMSERVER_TRANSPORTS_TRANSPORT_TABLE_H_

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ringside/common/strategy/strategy_options.h"
#include "ringside/paramserver/transports/core/transport_entry.h"

namespace ringside {

/// The transport between workers and servers, by its name in the table. `TransportTable::Option` is
/// the declaration, with the names that a program has.
inline constexpr TextOption kPsTransport{.name = "ps-transport",
                                         .placeholder = "NAME",
                                         .help = "between worker and server",
                                         .default_value = "tcp",
                                         .role = OptionRole::kTransport};

/// The transports between workers and servers that a program has: the built-in ones, then its own.
/// A value; it never changes.
class TransportTable {
 public:
  /// The built-in transports alone.
  TransportTable() : TransportTable(std::span<const TransportEntry* const>{}) {}
  /// Throws `ConfigError` on a name that is taken, and on an entry that lacks something.
  explicit TransportTable(std::span<const TransportEntry* const> added);

  std::span<const TransportEntry* const> entries() const& { return entries_; }
  void entries() const&& = delete;  // they would be gone with the table
  /// Null when there is none of that name.
  const TransportEntry* Find(std::string_view name) const;
  /// Throws `ConfigError`, which lists the names, when there is none of that name.
  const TransportEntry& Named(std::string_view name) const;
  /// The entry that a strategy's options ask for.
  const TransportEntry& Of(const StrategyOptions& options) const;

  /// Reads `ServerAddress::ToText`. Throws `CommError` when the text is not an address of one of
  /// these transports.
  ServerAddress ParseAddress(const std::string& text) const;

  /// `kPsTransport`, with the names of these transports.
  OptionDeclaration Option() const;
  /// "uds and shm need workers and servers on one host".
  std::string OneHostReason() const;

  /// Connects a worker with this space over the server's transport. Throws `ConfigError` when the
  /// transport needs both on one host and they are not, else `CommError`.
  std::unique_ptr<ServerLink> Connect(int server, const ServerAddress& address,
                                      const LinkSetup& setup, FlatSpace& space,
                                      const CommOptions& comm) const;

 private:
  std::vector<std::string> OneHostNames() const;

  std::vector<const TransportEntry*> entries_;
};

/// Why parameter servers cannot run with this codec over this transport, for
/// `StrategyEntry::check`.
std::optional<OptionRefusal> CheckServerCodec(const CodecOptions& codec,
                                              const TransportEntry& transport);

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_TRANSPORTS_TRANSPORT_TABLE_H_

#ifndef RINGSIDE_PARAMSERVER_TRANSPORTS_GRPC_GRPC_CONNECTIONS_H_
#define RINGSIDE_PARAMSERVER_TRANSPORTS_GRPC_GRPC_CONNECTIONS_H_

// Private to the .cc files of this folder that speak gRPC.

#include <cstddef>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "ringside/common/base/deadline.h"
#include "ringside/paramserver/transports/grpc/grpc_connection.h"

namespace ringside {

/// A link's connections to its server. Each has a place. One that is lost is made again at its
/// place, and the old one is kept until no call and no payload uses it. Thread-safe. No function
/// that may destroy or close a connection may be called on a thread of gRPC.
class GrpcConnections {
 public:
  struct Used {
    GrpcConnection* connection;
    int made_again;  ///< How often its place had been made again.
  };

  /// Makes all of them. Throws what `make` throws.
  GrpcConnections(MakeGrpcConnection make, std::size_t count, const Deadline& deadline);

  std::size_t size() const { return places_.size(); }
  /// How often a connection was made again.
  int reconnects() const;

  /// The one of the first place. For the start, before there are calls.
  GrpcConnection& first() { return *places_.front().connection; }
  /// From now on a call and its payload use the connection of this place.
  Used Begin(std::size_t place);
  /// Whether no call uses it now.
  bool EndCall(GrpcConnection& connection);
  void EndPayload(GrpcConnection& connection);

  /// Whether a call that has lost its connection shall be made again. A place is given up when it
  /// cannot be made again, or when several connections in turn have brought no answer.
  bool IsWorthAnotherCall(std::size_t place, const Used& lost) const;
  /// Makes the connection of this place again. Does nothing where it has been made again more than
  /// `made_again` times, because the call that counts these has lost an older one. False: it cannot
  /// be made.
  bool MakeAgain(std::size_t place, int made_again);
  /// Why the connection of this place is not made again, as the second half of a sentence. Empty:
  /// nothing speaks against it.
  std::string WhyNotAgain(std::size_t place) const;

  /// Whether there are old connections without calls.
  bool AnyToClose() const;
  /// Closes these, and destroys those whose payloads have been released.
  void CloseOld();

  void CutAll();
  void CloseAll();

 private:
  struct Place {
    std::unique_ptr<GrpcConnection> connection;
    int made_again = 0;  // how often
    int in_vain = 0;     // how often since a connection has brought an answer
    bool lost = false;   // and it cannot be made again
    std::string why_not_again{};
  };

  const MakeGrpcConnection make_;
  mutable std::mutex mutex_;
  std::vector<Place> places_;                         // guarded by the mutex, but not their number
  std::vector<std::unique_ptr<GrpcConnection>> old_;  // guarded by the mutex
};

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_TRANSPORTS_GRPC_GRPC_CONNECTIONS_H_

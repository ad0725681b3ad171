#include "ringside/paramserver/transports/grpc/grpc_connections.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "ringside/common/base/dilated_clock.h"
#include "ringside/paramserver/transports/core/server_link.h"

namespace ringside {

GrpcConnections::GrpcConnections(MakeGrpcConnection make, std::size_t count,
                                 const Deadline& deadline)
    : make_(std::move(make)) {
  for (std::size_t i = 0; i < count; ++i) {
    places_.push_back({.connection = make_(deadline, IfRefused::kTryAgain)});
  }
}

int GrpcConnections::reconnects() const {
  const std::lock_guard lock(mutex_);
  int all = 0;
  for (const Place& place : places_) all += place.made_again;
  return all;
}

GrpcConnections::Used GrpcConnections::Begin(std::size_t place) {
  const std::lock_guard lock(mutex_);
  GrpcConnection& connection = *places_[place].connection;
  ++connection.calls;
  ++connection.payloads;
  return {&connection, places_[place].made_again};
}

bool GrpcConnections::EndCall(GrpcConnection& connection) {
  const std::lock_guard lock(mutex_);
  return --connection.calls == 0;
}

void GrpcConnections::EndPayload(GrpcConnection& connection) {
  const std::lock_guard lock(mutex_);
  --connection.payloads;
}

bool GrpcConnections::IsWorthAnotherCall(std::size_t place, const Used& lost) const {
  const std::lock_guard lock(mutex_);
  const Place& now = places_[place];
  if (now.lost) return false;
  return now.made_again > lost.made_again || lost.connection->has_answered ||
         now.in_vain < kReconnectsInVain;
}

// A new connection may be lost before it can be used, so there are several attempts. A server that
// has ended refuses all of them at once. The mutex is not held meanwhile: other places go on.
bool GrpcConnections::MakeAgain(std::size_t place, int made_again) {
  {
    const std::lock_guard lock(mutex_);
    const Place& now = places_[place];
    if (now.lost) return false;
    if (now.made_again > made_again) return true;
    now.connection->Cut();
  }
  std::unique_ptr<GrpcConnection> made;
  std::string reason;
  const Deadline deadline = Deadline::After(DilatedClock::ToMachine(kReconnectTime));
  for (int attempt = 0; made == nullptr && attempt < kReconnectsInVain; ++attempt) {
    if (attempt > 0 && deadline.expired()) break;
    try {
      made = make_(deadline, IfRefused::kThrow);
    } catch (const std::exception& error) {
      reason = error.what();
    }
  }
  const std::lock_guard lock(mutex_);
  Place& now = places_[place];
  now.lost = made == nullptr;
  if (now.lost) {
    now.why_not_again = "and no new connection could be made: " + reason;
    return false;
  }
  ++now.made_again;
  now.in_vain = now.connection->has_answered ? 1 : now.in_vain + 1;
  std::swap(now.connection, made);
  old_.push_back(std::move(made));
  return true;
}

std::string GrpcConnections::WhyNotAgain(std::size_t place) const {
  const std::lock_guard lock(mutex_);
  const Place& now = places_[place];
  const bool in_vain = now.in_vain >= kReconnectsInVain && !now.connection->has_answered;
  return in_vain && !now.lost ? LostInVain() : now.why_not_again;
}

bool GrpcConnections::AnyToClose() const {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(old_, [](const std::unique_ptr<GrpcConnection>& connection) {
    return connection->calls == 0 && !connection->closed;
  });
}

// gRPC may hold a payload until its channel ends, and the owner of the call waits for that. A
// channel ends with its last reference, and calls have some.
void GrpcConnections::CloseOld() {
  std::vector<GrpcConnection*> idle;
  {
    const std::lock_guard lock(mutex_);
    for (const std::unique_ptr<GrpcConnection>& connection : old_) {
      if (connection->calls > 0 || std::exchange(connection->closed, true)) continue;
      idle.push_back(connection.get());
    }
  }
  for (GrpcConnection* connection : idle) connection->Close();
  std::vector<std::unique_ptr<GrpcConnection>> unused;  // destroyed without the mutex
  const std::lock_guard lock(mutex_);
  for (std::unique_ptr<GrpcConnection>& connection : old_) {
    if (connection->closed && connection->payloads == 0) unused.push_back(std::move(connection));
  }
  std::erase(old_, nullptr);
}

void GrpcConnections::CutAll() {
  const std::lock_guard lock(mutex_);
  for (const Place& place : places_) place.connection->Cut();
}

// To close one releases payloads, which is told to this object. So the mutex is not held.
void GrpcConnections::CloseAll() {
  std::vector<GrpcConnection*> all;
  {
    const std::lock_guard lock(mutex_);
    for (const Place& place : places_) all.push_back(place.connection.get());
    for (const std::unique_ptr<GrpcConnection>& connection : old_) all.push_back(connection.get());
  }
  for (GrpcConnection* connection : all) connection->Close();
}

}  // namespace ringside

#include "ring/gloo_links.h"

#include <fmt/format.h>
#include <gloo/common/error.h>
#include <gloo/transport/address.h>
#include <gloo/transport/buffer.h>
#include <gloo/transport/context.h>
#include <gloo/transport/device.h>
#include <gloo/transport/pair.h>
#include <gloo/transport/tcp/device.h>
#include <netdb.h>

#include <algorithm>
#include <array>
#include <fstream>

#include "common/deadline.h"
#include "common/errors.h"
#include "ring/connect_watchdog.h"
#include "ring/peer_proof.h"

namespace ringside {
namespace {

constexpr int kSlot = 0;  // one stream of messages per connection is enough

/// More gains nothing: it lasts a 1 Gbit/s link for 4 ms.
constexpr std::size_t kMostWindowBytes = 8 * Links::kSegmentBytes;

/// What a socket's send buffer can be made to hold: a deeper window rides out a thread that waits
/// for its core.
std::size_t WindowBytes() {
  std::size_t granted = 0;
  std::ifstream("/proc/sys/net/core/wmem_max") >> granted;
  const std::size_t segments = granted / Links::kSegmentBytes;
  return std::clamp(segments * Links::kSegmentBytes, Links::kLeastWindowBytes, kMostWindowBytes);
}

std::string WorkerName(int rank) { return fmt::format("worker {}", rank); }

/// Gloo's messages start with its own source position, which tells a user nothing.
std::string Reason(const std::exception& error) {
  const std::string text = error.what();
  const auto end = text.find("] ");
  return text.starts_with('[') && end != std::string::npos ? text.substr(end + 2) : text;
}

std::string ToHex(std::span<const char> bytes) {
  std::string hex;
  for (const char byte : bytes) hex += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return hex;
}

std::vector<char> FromHex(std::string_view hex) {
  std::vector<char> bytes;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16)));
  }
  return bytes;
}

std::shared_ptr<gloo::transport::Device> MakeDevice(const std::string& address) {
  // Resolved without a name service: a name of this host may stand for 127.0.1.1, where no other
  // host reaches it.
  addrinfo hints{};
  hints.ai_flags = AI_NUMERICHOST;
  addrinfo* found = nullptr;
  if (getaddrinfo(address.c_str(), nullptr, &hints, &found) != 0) {
    throw ConfigError(fmt::format("'{}' is no IP address to listen on", address));
  }
  freeaddrinfo(found);
  gloo::transport::tcp::attr attributes;
  attributes.hostname = address;
  try {
    return gloo::transport::tcp::CreateDevice(attributes);
  } catch (const std::exception& error) {
    throw CommError("this host", "listening on " + address, Reason(error));
  }
}

}  // namespace

/// Device and pairs, in the order in which they must go.
class GlooLinks::Transport {
 public:
  explicit Transport(const GlooLinksOptions& options)
      : device_(MakeDevice(options.comm.address)),
        context_(device_->createContext(options.world.rank, options.world.workers)) {
    context_->setTimeout(options.comm.timeout);
  }

  gloo::transport::Pair& pair(int peer) { return *context_->getPair(peer); }

  void Connect(const GlooLinksOptions& options, std::span<const int> peers);

 private:
  void Publish(const GlooLinksOptions& options, std::span<const int> peers);
  void ConnectTo(int peer, const GlooLinksOptions& options, const Deadline& published,
                 const Deadline& connected);

  std::shared_ptr<gloo::transport::Device> device_;
  std::shared_ptr<gloo::transport::Context> context_;
};

void GlooLinks::Transport::Publish(const GlooLinksOptions& options, std::span<const int> peers) {
  for (const int peer : peers) {
    const auto address = context_->createPair(peer)->address().bytes();
    options.store.Set(fmt::format("{}/{}-{}", options.prefix, options.world.rank, peer),
                      ToHex(address));
  }
}

void GlooLinks::Transport::ConnectTo(int peer, const GlooLinksOptions& options,
                                     const Deadline& published, const Deadline& connected) {
  const std::string key = fmt::format("{}/{}-{}", options.prefix, peer, options.world.rank);
  const auto address = FromHex(options.store.Get(key, published));
  const ConnectWatchdog watchdog(connected, [&] { pair(peer).close(); });
  pair(peer).connect(address);
  if (connected.expired()) throw InternalError("it did not connect in time");
}

void GlooLinks::Transport::Connect(const GlooLinksOptions& options, std::span<const int> peers) {
  Publish(options, peers);
  // Gloo bounds a connect by the timeout of operations: it begins when all processes are there.
  const Deadline published = Deadline::After(options.comm.rendezvous_timeout());
  Exchange(options.store, options.world, options.prefix + "/published", "", published);
  const Deadline connected = Deadline::After(options.comm.timeout);
  for (const int peer : peers) {
    try {
      ConnectTo(peer, options, published, connected);
    } catch (const std::exception& error) {
      throw CommError(WorkerName(peer), "connecting", Reason(error));
    }
  }
  for (const int peer : peers) pair(peer).setSync(true, false);
}

GlooLinks::GlooLinks(const GlooLinksOptions& options) : window_bytes_(WindowBytes()) {
  auto peers = options.peers;
  std::ranges::sort(peers);
  const auto repeated = std::ranges::unique(peers);
  peers.erase(repeated.begin(), repeated.end());
  transport_ = std::make_unique<Transport>(options);
  transport_->Connect(options, peers);
  Authenticate(options, peers);
  traffic_ = {};
}

GlooLinks::~GlooLinks() = default;

void GlooLinks::Authenticate(const GlooLinksOptions& options, std::span<const int> peers) {
  // As long as a window: Gloo sizes a socket's send buffer by the largest message it has sent, and
  // the algorithms count on a window's room.
  std::vector<std::byte> message(kMostWindowBytes);
  const auto head = std::span(message).first<kProofBytes>();
  const PeerProof proof(options.comm.token, options.prefix, options.world.workers);
  for (const int peer : peers) {
    std::ranges::copy(proof.Make(options.world.rank, peer), head.begin());
    Send(peer, std::span(message).first(window_bytes_));
  }
  for (const int peer : peers) {
    Receive(peer, message);  // the peer's window may be another
    if (proof.Check(head, peer, options.world.rank)) continue;
    throw CommError(WorkerName(peer), "the handshake", "it does not know the token of this job");
  }
}

void GlooLinks::Send(int peer, std::span<const std::byte> data) {
  try {
    // Gloo's sending side never writes, though its interface asks for a mutable pointer.
    auto* bytes = const_cast<std::byte*>(data.data());
    transport_->pair(peer).createSendBuffer(kSlot, bytes, data.size())->send(0, data.size());
    traffic_.sent += data.size();
  } catch (const std::exception& error) {
    throw CommError(WorkerName(peer), "sending", Reason(error));
  }
}

void GlooLinks::Receive(int peer, std::span<std::byte> data) {
  try {
    transport_->pair(peer).createRecvBuffer(kSlot, data.data(), data.size())->waitRecv();
    traffic_.received += data.size();
  } catch (const std::exception& error) {
    throw CommError(WorkerName(peer), "receiving", Reason(error));
  }
}

}  // namespace ringside

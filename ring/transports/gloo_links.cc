#include "ringside/ring/transports/gloo_links.h"

#include <fmt/format.h>
#include <gloo/transport/buffer.h>
#include <gloo/transport/context.h>
#include <gloo/transport/pair.h>

#include <algorithm>
#include <fstream>
#include <utility>

#include "ringside/common/base/errors.h"
#include "ringside/common/base/lack_of_resources.h"
#include "ringside/common/measure/activity.h"
#include "ringside/ring/transports/gloo_pairs.h"
#include "ringside/ring/transports/peer_connections.h"

namespace ringside {
namespace {

constexpr int kSlot = 0;  // one stream of messages per connection is enough

/// Points one of Gloo's buffers at other memory. Gloo makes a buffer for memory with a fixed
/// address. A new buffer for each message would allocate the buffer and a table entry each time.
/// The address is a protected member of `Buffer`, so this class derives from it.
class BufferTarget : public gloo::transport::Buffer {
 public:
  static void Set(gloo::transport::Buffer& buffer, void* data, std::size_t bytes) {
    buffer.*(&BufferTarget::ptr_) = data;
    buffer.*(&BufferTarget::size_) = bytes;
  }
};

/// A larger window gains nothing: this one keeps a link of 1 Gbit/s busy for 4 ms.
constexpr std::size_t kMostWindowBytes = 8 * Links::kSegmentBytes;

/// The window that a socket's send buffer can hold. A larger window keeps data flowing while a
/// thread waits for a core.
std::size_t WindowBytes() {
  std::size_t granted = 0;
  std::ifstream("/proc/sys/net/core/wmem_max") >> granted;
  const std::size_t segments = granted / Links::kSegmentBytes;
  return std::clamp(segments * Links::kSegmentBytes, Links::kLeastWindowBytes, kMostWindowBytes);
}

/// Gloo's messages start with its own source position, which tells a user nothing.
std::string Reason(const std::exception& error) {
  const std::string text = error.what();
  const auto end = text.find("] ");
  return text.starts_with('[') && end != std::string::npos ? text.substr(end + 2) : text;
}

class GlooLinks : public CountingLinks {
 public:
  /// `peers` without repetitions.
  GlooLinks(const GlooLinksOptions& options, std::span<const int> peers);

  std::string NameOf(int peer) const override {
    return fmt::format("worker {}", workers_[static_cast<std::size_t>(peer)]);
  }
  std::size_t window_bytes() const override { return window_bytes_; }
  void Send(int peer, std::span<const std::byte> data, ChunkPhase phase) override;
  void Receive(int peer, std::span<std::byte> data, ChunkPhase phase) override;
  const Traffic& traffic() const override { return traffic_; }
  std::span<const std::string> endpoints() const override { return endpoints_; }

 private:
  /// The buffers for messages to and from a peer.
  struct Channel {
    std::unique_ptr<gloo::transport::Buffer> out;
    std::unique_ptr<gloo::transport::Buffer> in;
  };

  /// The worker of the job that a peer is.
  AwaitedPeer Awaited(AwaitedPeer::Way way, int peer) const {
    return {way, workers_[static_cast<std::size_t>(peer)]};
  }
  void MakePairs(const GlooLinksOptions& options, std::span<const int> peers);
  void FillWindows(std::span<const int> peers);

  const std::vector<int> workers_;  // by rank
  const std::size_t window_bytes_;
  ActivityBoard* const activity_;
  std::vector<std::string> endpoints_;
  std::shared_ptr<gloo::transport::Context> context_;
  std::vector<Channel> channels_;  // by rank; empty for ranks that are no peers. Uses `context_`
  Traffic traffic_;
};

GlooLinks::GlooLinks(const GlooLinksOptions& options, std::span<const int> peers)
    : workers_(options.workers.begin(), options.workers.end()),
      window_bytes_(WindowBytes()),
      activity_(options.comm.activity) {
  MakePairs(options, peers);
  FillWindows(peers);
  traffic_ = {};
}

void GlooLinks::MakePairs(const GlooLinksOptions& options, std::span<const int> peers) {
  const int rank = options.world.rank;
  try {
    const auto device = MakeGlooDevice(options.comm.address);
    PeerConnections connections =
        ConnectPeers({.world = options.world,
                      .store = options.store,
                      .comm = options.comm,
                      .prefix = options.prefix,
                      .peers = peers,
                      .name_of = [this](int peer) { return NameOf(peer); }});
    endpoints_ = std::move(connections.endpoints);
    context_ = MakeGlooPairs(
        device, {.rank = rank, .ranks = options.world.workers, .timeout = options.comm.timeout},
        std::move(connections.sockets));
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    if (!LackInCurrentException().empty()) throw;
    throw CommError(NameOf(rank), "opening sockets", Reason(error));
  }
  channels_.resize(static_cast<std::size_t>(options.world.workers));
  for (const int peer : peers) {
    gloo::transport::Pair& pair = *context_->getPair(peer);
    channels_[static_cast<std::size_t>(peer)] = {pair.createSendBuffer(kSlot, nullptr, 0),
                                                 pair.createRecvBuffer(kSlot, nullptr, 0)};
  }
}

// Gloo sizes a socket's send buffer by the largest message that it has sent, and the algorithms
// need the room of a window.
void GlooLinks::FillWindows(std::span<const int> peers) {
  std::vector<std::byte> message(kMostWindowBytes);
  constexpr auto kPhase = ChunkPhase::kExchange;
  for (const int peer : peers) Send(peer, std::span(message).first(window_bytes_), kPhase);
  for (const int peer : peers) Receive(peer, message, kPhase);  // its window may have another size
}

void GlooLinks::Send(int peer, std::span<const std::byte> data, ChunkPhase) {
  const ScopedPeer waits(activity_, Awaited(AwaitedPeer::Way::kSend, peer));
  try {
    gloo::transport::Buffer& buffer = *channels_[static_cast<std::size_t>(peer)].out;
    // Gloo's sending side never writes, though its interface asks for a mutable pointer.
    BufferTarget::Set(buffer, const_cast<std::byte*>(data.data()), data.size());
    buffer.send(0, data.size());
    buffer.waitSend();  // does not block: `send` has sent all; this takes it off Gloo's count
    traffic_.sent += data.size();
  } catch (const std::exception& error) {
    throw CommError(NameOf(peer), "sending", Reason(error));
  }
}

void GlooLinks::Receive(int peer, std::span<std::byte> data, ChunkPhase) {
  const ScopedPeer waits(activity_, Awaited(AwaitedPeer::Way::kReceive, peer));
  try {
    gloo::transport::Buffer& buffer = *channels_[static_cast<std::size_t>(peer)].in;
    BufferTarget::Set(buffer, data.data(), data.size());
    buffer.waitRecv();
    traffic_.received += data.size();
  } catch (const std::exception& error) {
    throw CommError(NameOf(peer), "receiving", Reason(error));
  }
}

}  // namespace

std::unique_ptr<CountingLinks> ConnectGloo(const GlooLinksOptions& options) {
  auto peers = options.peers;
  std::ranges::sort(peers);
  const auto repeated = std::ranges::unique(peers);
  peers.erase(repeated.begin(), repeated.end());
  return std::make_unique<GlooLinks>(options, peers);
}

}  // namespace ringside

#ifndef RINGSIDE_COMMON_STRATEGY_OPTIONS_H_
#define RINGSIDE_COMMON_STRATEGY_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "common/codec_options.h"

namespace ringside {

/// The order in which buckets that are ready leave a worker.
enum class SendOrder {
  kFifo,      ///< As the backward pass finishes them.
  kPriority,  ///< What the next forward pass reads first goes first.
};

/// What carries bytes between a worker and a server.
enum class PsTransport {
  kGrpc,  ///< gRPC over TCP.
  kUds,   ///< gRPC over a Unix domain socket: server and worker on one host.
  kShm,   ///< Shared memory: likewise.
};

/// What sums among the workers of one host.
enum class HostSum {
  kShm,   ///< Shared memory.
  kNccl,  ///< NCCL, on the host's GPUs.
};

/// NCCL's algorithm, pinned.
enum class NcclAlgorithm { kRing, kTree };

/// What a run may ask of its strategy. A strategy reads the keys that its table entry names
/// (`StrategyEntry::keys`); a value other than the default under a strategy that does not read it
/// is refused before anything starts.
struct StrategyOptions {
  SendOrder order = SendOrder::kFifo;  ///< Key `schedule`.
  CodecOptions codec;                  ///< Keys `codec`, `error-feedback`.

  std::int64_t staleness = 3;  ///< `staleness`: ps-ssp's bound s, in steps, >= 0.
  int backups = 1;             ///< `backups`: pushes of a step that ps-backup does not wait for.
  bool staleness_lr = false;   ///< `staleness-lr`: ps-async divides the rate by 1 + staleness.
  PsTransport ps_transport = PsTransport::kGrpc;  ///< `ps-transport`.

  std::int64_t sync_every = 10;  ///< `sync-every`: H, steps between two averages, >= 1.
  double outer_lr = 0.7;         ///< `outer-lr`: diloco's outer learning rate.
  double outer_momentum = 0.5;   ///< `outer-momentum`: diloco's outer Nesterov momentum.

  NcclAlgorithm nccl_algorithm = NcclAlgorithm::kRing;  ///< `nccl-algorithm`.
  /// `nccl-share-gpu`: workers of a host may share a GPU. An emulation: NCCL takes each for a host
  /// of its own, and sends through sockets.
  bool nccl_share_gpu = false;
  HostSum host_sum = HostSum::kShm;  ///< `host-sum`: how hierarchical sums inside a host.
};

/// Why a strategy cannot do what is asked: the key to blame, as flags spell it, and the reason with
/// what to do instead.
struct OptionRefusal {
  std::string key;
  std::string reason;
  bool missing_backend = false;  ///< The value is right, but this machine or build lacks its means.
};

/// Error feedback needs a codec that loses something. Of the key `error-feedback`.
std::optional<OptionRefusal> CheckErrorFeedback(const CodecOptions& codec);

}  // namespace ringside

#endif  // RINGSIDE_COMMON_STRATEGY_OPTIONS_H_

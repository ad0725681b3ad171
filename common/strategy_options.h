#ifndef RINGSIDE_COMMON_STRATEGY_OPTIONS_H_
#define RINGSIDE_COMMON_STRATEGY_OPTIONS_H_

#include <cstdint>
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
  double outer_momentum = 0.9;   ///< `outer-momentum`: diloco's outer Nesterov momentum.

  NcclAlgorithm nccl_algorithm = NcclAlgorithm::kRing;  ///< `nccl-algorithm`.
};

/// Why a strategy cannot do what is asked: the key to blame, as flags spell it, and the reason with
/// what to do instead.
struct OptionRefusal {
  std::string key;
  std::string reason;
};

}  // namespace ringside

#endif  // RINGSIDE_COMMON_STRATEGY_OPTIONS_H_

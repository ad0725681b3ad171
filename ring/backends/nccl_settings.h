#ifndef RINGSIDE_RING_BACKENDS_NCCL_SETTINGS_H_
#define RINGSIDE_RING_BACKENDS_NCCL_SETTINGS_H_

#include <string>
#include <utility>
#include <vector>

#include "ringside/common/strategy/option.h"

namespace ringside {

/// The algorithm that NCCL must use.
enum class NcclAlgorithm { kRing, kTree };

inline constexpr ChoiceOption<NcclAlgorithm, 2> kNcclAlgorithm{
    .name = "nccl-algorithm",
    .placeholder = "NAME",
    .help = "nccl: ring or tree, pinned",
    .noun = "algorithm",
    .choices = {"ring", "tree"},
    .default_value = NcclAlgorithm::kRing};
/// An emulation: NCCL takes each worker for a host of its own, and sends through sockets.
inline constexpr SwitchOption kNcclShareGpu{
    .name = "nccl-share-gpu",
    .help =
        "nccl: workers may share a GPU; emulated: NCCL takes each for a host, and uses sockets"};

/// NCCL's settings and messages, which need no NCCL. Pure.

/// The value of NCCL_ALGO: the all-reduce alone is pinned, as not every operation knows a tree.
const char* NcclAlgorithmSetting(NcclAlgorithm algorithm);

/// The value of NCCL_SOCKET_IFNAME for a worker that listens on `address`: the loopback device for
/// a loopback address. NCCL itself takes any other device that it finds. Empty: NCCL chooses.
std::string NcclInterface(const std::string& address);

/// Environment variables under which NCCL lets workers share a GPU: it treats worker `rank` as a
/// separate host, and reaches the others through sockets on the loopback device.
std::vector<std::pair<std::string, std::string>> SharedGpuSettings(int rank);

/// Text for the run's summary.
inline constexpr char kSharedGpuNote[] =
    "emulated: workers share a GPU; NCCL takes each for a host of its own and sends through "
    "sockets "
    "of the loopback device";

/// Why `local_workers` workers of one host cannot share its `devices` GPUs; empty: each has one.
std::string TooFewDevices(int local_workers, int devices);

}  // namespace ringside

#endif  // RINGSIDE_RING_BACKENDS_NCCL_SETTINGS_H_

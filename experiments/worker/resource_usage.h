#ifndef RINGSIDE_EXPERIMENTS_WORKER_RESOURCE_USAGE_H_
#define RINGSIDE_EXPERIMENTS_WORKER_RESOURCE_USAGE_H_

#include <cstdint>
#include <string>

namespace ringside {

/// User and system time of this process, all threads, since it began.
double CpuSeconds();

/// What the cores of this machine have done since it started, whoever asked them to, in ticks.
struct MachineTicks {
  std::uint64_t busy = 0;  ///< Neither idle nor waiting for a disk; interrupts and stolen time too.
  std::uint64_t all = 0;

  MachineTicks operator-(const MachineTicks& earlier) const {
    return {busy - earlier.busy, all - earlier.all};
  }
};

/// From /proc/stat; zeros where it says nothing.
MachineTicks ReadMachineTicks();

/// The most memory this process ever had resident (VmHWM), in bytes.
std::int64_t PeakRssBytes();

/// What this process's TCP sockets have carried since they were opened, as the kernel counts it
/// (TCP_INFO): application bytes in both directions, retransmissions counted once more.
struct SocketBytes {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;

  SocketBytes operator-(const SocketBytes& earlier) const {
    return {sent - earlier.sent, received - earlier.received};
  }
};

/// Sums over the sockets that are open now; connections that have been closed are forgotten. Left
/// out are connections to `except` ("127.0.0.1:4711", the coordinator) and those with both ends in
/// this process, whose bytes reach no network.
SocketBytes OpenSocketBytes(const std::string& except);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_WORKER_RESOURCE_USAGE_H_

#ifndef RINGSIDE_EXPERIMENTS_WORKER_RESOURCE_USAGE_H_
#define RINGSIDE_EXPERIMENTS_WORKER_RESOURCE_USAGE_H_

#include <cstdint>
#include <string>

namespace ringside {

/// The user and system seconds of this process since its start, over all threads.
double CpuSeconds();

/// The time of this machine's cores since it started, for all processes, in clock ticks.
struct MachineTicks {
  std::uint64_t busy = 0;  ///< Neither idle nor waiting for a disk; has interrupts, stolen time.
  std::uint64_t all = 0;

  MachineTicks operator-(const MachineTicks& earlier) const {
    return {busy - earlier.busy, all - earlier.all};
  }
};

/// Reads /proc/stat; returns zeros when that gives no numbers.
MachineTicks ReadMachineTicks();

/// The peak resident memory of this process (VmHWM), in bytes.
std::int64_t PeakRssBytes();

/// The bytes that this process's TCP sockets have carried since they were opened, as the kernel
/// counts them (TCP_INFO): application bytes, each once. On a busy machine even loopback sends some
/// again.
struct SocketBytes {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;

  SocketBytes operator-(const SocketBytes& earlier) const {
    return {sent - earlier.sent, received - earlier.received};
  }
};

/// Sums over the sockets that are open now. Leaves out closed ones, connections to `except`
/// ("127.0.0.1:4711", the coordinator), and those inside this process, whose bytes reach no
/// network.
SocketBytes OpenSocketBytes(const std::string& except);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_WORKER_RESOURCE_USAGE_H_

#ifndef RINGSIDE_EXPERIMENTS_SYSTEM_PROCESSES_OOM_KILLS_H_
#define RINGSIDE_EXPERIMENTS_SYSTEM_PROCESSES_OOM_KILLS_H_

#include <cstdint>

namespace ringside {

/// The number of processes that the kernel has killed for lack of memory since the machine started:
/// of the whole machine or of a control group (`oom_kill` of /proc/vmstat). 0 if the kernel does
/// not tell.
std::uint64_t OomKills() noexcept;

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SYSTEM_PROCESSES_OOM_KILLS_H_

#ifndef RINGSIDE_PARAMSERVER_SERVER_CONSISTENCY_TABLE_H_
#define RINGSIDE_PARAMSERVER_SERVER_CONSISTENCY_TABLE_H_

#include <vector>

#include "ringside/paramserver/server/consistency_entry.h"

namespace ringside {

inline constexpr IntegerOption kStaleness{.name = "staleness",
                                          .placeholder = "S",
                                          .help = "ps-ssp: how many steps a worker may be ahead",
                                          .default_value = 3,
                                          .least = 0,
                                          .hint = "0 waits for all workers"};
inline constexpr IntegerOption kBackups{
    .name = "backups",
    .placeholder = "B",
    .help = "ps-backup: pushes of a step that are not waited for",
    .default_value = 1,
    .least = 0,
    .hint = "0 waits for every push"};
inline constexpr SwitchOption kStalenessLr{
    .name = "staleness-lr",
    .help = "ps-async: divide the learning rate of a push by 1 + its staleness"};

/// An option of the strategies whose consistency has `may_only_sum`.
inline constexpr SwitchOption kServerUpdate{
    .name = "server-update",
    .help =
        "ps-sync, mixed: servers update the parameters; off: they only sum, and every worker "
        "updates with its own optimizer, as in BytePS",
    .default_value = true,
    .written_only_if_set = true};

/// All consistencies of this build.
std::vector<ConsistencyEntry> ConsistencyTable();

}  // namespace ringside

#endif  // RINGSIDE_PARAMSERVER_SERVER_CONSISTENCY_TABLE_H_

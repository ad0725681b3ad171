#ifndef RINGSIDE_EXPERIMENTS_JOB_TOKEN_H_
#define RINGSIDE_EXPERIMENTS_JOB_TOKEN_H_

#include <string>
#include <string_view>

namespace ringside {

/// The job's secret: 256 random bits as 64 hex digits. Travels through a pipe or a 0600 file and as
/// metadata of calls, never in argv, the environment, logs or the store.
std::string MakeToken();

/// In constant time for tokens of equal length.
bool TokensEqual(std::string_view left, std::string_view right);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_TOKEN_H_

#ifndef RINGSIDE_EXPERIMENTS_FIND_PROGRAM_H_
#define RINGSIDE_EXPERIMENTS_FIND_PROGRAM_H_

#include <string>

namespace ringside {

/// Where PATH finds a program; empty: nowhere.
std::string FindProgram(const std::string& name);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_FIND_PROGRAM_H_

#ifndef RINGSIDE_EXPERIMENTS_SYSTEM_FIND_PROGRAM_H_
#define RINGSIDE_EXPERIMENTS_SYSTEM_FIND_PROGRAM_H_

#include <string>

namespace ringside {

/// The path of a program, found in PATH, /usr/sbin or /sbin; empty when there is none.
std::string FindProgram(const std::string& name);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SYSTEM_FIND_PROGRAM_H_

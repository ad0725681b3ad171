#ifndef RINGSIDE_EXPERIMENTS_SYSTEM_FILES_FIND_PROGRAM_H_
#define RINGSIDE_EXPERIMENTS_SYSTEM_FILES_FIND_PROGRAM_H_

#include <string>

namespace ringside {

/// The path of a program, found in PATH, /usr/sbin or /sbin; empty when there is none.
std::string FindProgram(const std::string& name);

/// The path of the command that a shell would run: `command` itself if it holds a slash and is
/// executable, else as `FindProgram`.
std::string PathOfCommand(const std::string& command);

/// Why there is no path of the command: "there is no program 'train' in PATH".
std::string WhyNoCommand(const std::string& command);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SYSTEM_FILES_FIND_PROGRAM_H_

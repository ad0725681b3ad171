#ifndef RINGSIDE_EXPERIMENTS_SYSTEM_OUTPUT_STANDARD_STREAMS_H_
#define RINGSIDE_EXPERIMENTS_SYSTEM_OUTPUT_STANDARD_STREAMS_H_

#include <string>

namespace ringside {

/// Opens /dev/null as each of standard input, output and error that is closed, as after
/// `ringside train >&-`. Otherwise the next file or connection would get its number, and messages
/// would be written into it. For the start of `main`. Returns false if there is no /dev/null.
bool OpenClosedStandardStreams();

/// Writes what standard output still holds. Returns why not all of it could be written, now or
/// before; empty if it could. For the end of `main`: the C library drops such an error.
std::string FlushStandardOutput();

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SYSTEM_OUTPUT_STANDARD_STREAMS_H_

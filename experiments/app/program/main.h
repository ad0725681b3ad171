#ifndef RINGSIDE_EXPERIMENTS_APP_PROGRAM_MAIN_H_
#define RINGSIDE_EXPERIMENTS_APP_PROGRAM_MAIN_H_

#include "ringside/experiments/spec/extensions.h"

namespace ringside {

/// Runs Ringside: the command line, and the hidden verbs with which it starts itself as workers and
/// servers. `extensions` add the program's own strategies, models and data to the built-in ones:
///
///   int main(int argc, char** argv) { return ringside::Main(argc, argv, extensions); }
///
/// Returns the exit code and catches all exceptions. Call it before any thread starts.
int Main(int argc, char** argv, const Extensions& extensions = {});

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_APP_PROGRAM_MAIN_H_

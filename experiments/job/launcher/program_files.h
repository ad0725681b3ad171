#ifndef RINGSIDE_EXPERIMENTS_JOB_LAUNCHER_PROGRAM_FILES_H_
#define RINGSIDE_EXPERIMENTS_JOB_LAUNCHER_PROGRAM_FILES_H_

#include <string>

#include "ringside/experiments/spec/run_spec.h"

namespace ringside {

/// Copies the files that the words of `spec.program` name, such as its script, to the folder
/// "program" of a bundle, as "1-train.py" for the word after the first. Leaves out what is no
/// regular file, cannot be read, is longer than 1 MiB, or is a binary program. A copy has the mode
/// of its file. Removes the folder of an earlier run. Throws `DataError` when a copy cannot be
/// written.
void KeepProgramFiles(const RunSpec& spec, const std::string& bundle_dir);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_LAUNCHER_PROGRAM_FILES_H_

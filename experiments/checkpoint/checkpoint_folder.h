#ifndef RINGSIDE_EXPERIMENTS_CHECKPOINT_CHECKPOINT_FOLDER_H_
#define RINGSIDE_EXPERIMENTS_CHECKPOINT_CHECKPOINT_FOLDER_H_

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ringside {

// A folder of checkpoints. `step-N.ckpt` is the file of the whole job after N steps, and
// `step-N.worker-R.ckpt` the part of worker R, if it has one. A checkpoint counts from the moment
// the file of the whole job has its name: it is written last.

std::string CheckpointPath(const std::string& folder, std::int64_t steps_done);
/// `checkpoint` is the path of the whole job's file.
std::string WorkerPartPath(const std::string& checkpoint, int worker);

/// The folder of checkpoints that a user means by a directory: itself, or `checkpoints` in it, for
/// instance in a bundle. Empty: neither has a checkpoint.
std::string FindCheckpointFolder(const std::string& directory);

/// Whether a run whose bundle is `bundle` goes on from a checkpoint in that bundle, and so keeps
/// its checkpoints. `resume`: the path of the checkpoint, or of a directory of some; empty: none.
/// True where the paths cannot be compared.
bool ResumesWithin(const std::string& bundle, const std::string& resume);

/// The steps of the checkpoints in the folder, newest first. Looks at names only. Throws
/// `DataError` when the folder cannot be read.
std::vector<std::int64_t> CheckpointSteps(const std::string& folder);

/// Removes all checkpoints but the newest `keep`, with the parts of their workers, and parts of
/// older checkpoints that were never complete. `keep` 0: removes nothing. Returns what could not be
/// removed, which only takes room.
std::vector<std::string> PruneCheckpoints(const std::string& folder, std::int64_t keep);

/// Removes all checkpoints and parts of more than `steps_done` steps. They are of another run.
/// Throws `DataError` when one cannot be removed, because it would be taken for one of this run.
void RemoveCheckpointsAfter(const std::string& folder, std::int64_t steps_done);

/// Removes temporary files, which a killed process leaves behind: those of `process`, or all.
/// Nobody may write them meanwhile.
void RemoveTemporaryCheckpoints(const std::string& folder, std::optional<pid_t> process = {});

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_CHECKPOINT_CHECKPOINT_FOLDER_H_

#include "ringside/experiments/cli/commands.h"

#include <array>

#include "ringside/experiments/job/agents/run_agent.h"
#include "ringside/experiments/worker/worker.h"

namespace ringside {
namespace {

constexpr std::array kCommands{
    Command{"train", "train one model under one strategy", false, RunTrainCommand},
    Command{"matrix", "run every combination of a spec file, interleaved and resumable", false,
            RunMatrixCommand},
    Command{"demo", "see a ring and a parameter server train, side by side, in a browser", false,
            RunDemoCommand},
    Command{"report", "tables of a directory of results", false, RunReportCommand},
    Command{"compare", "whether two directories of results differ", false, RunCompareCommand},
    Command{"index", "rebuild the SQLite index of a directory of results", false, RunIndexCommand},
    Command{"bench", "time collectives, and push and pull; with --peers also bare Gloo and OpenMPI",
            false, RunBenchCommand},
    Command{"verify", "check that strategies compute what one worker computes", false,
            RunVerifyCommand},
    Command{"checkpoint", "look at checkpoints, check them, export their parameters", false,
            RunCheckpointCommand},
    Command{"certificates", "make, renew or check the certificates of a job", false,
            RunCertificatesCommand},
    Command{"manifest", "write the file with which a cluster's scheduler runs 'ringside train'",
            false, RunManifestCommand},
    Command{"lesson", "ten questions: predict, then let real runs answer", false, RunLessonCommand},
    Command{"list", "strategies, models and datasets of this build", false, RunListCommand},
    Command{"doctor", "what this machine can run; for the rest, why not", false, RunDoctorCommand},
    Command{"bench-worker", "a worker process that times instead of training", true,
            RunBenchWorker},
    Command{"worker", "a worker process", true, RunWorker},
    Command{"agent", "starts and watches one process for mpirun or srun", true, RunAgent},
    Command{"server", "a parameter server process", true, RunServer},
};

}  // namespace

std::span<const Command> Commands() { return kCommands; }

}  // namespace ringside

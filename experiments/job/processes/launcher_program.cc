#include "ringside/experiments/job/processes/launcher_program.h"

#include "ringside/common/base/errors.h"

namespace ringside {

const char* LauncherProgramName(LauncherProgram program) {
  switch (program) {
    case LauncherProgram::kRingside:
      return "ringside";
    case LauncherProgram::kMpirun:
      return "mpirun";
    case LauncherProgram::kSrun:
      return "srun";
  }
  return "unknown";
}

LauncherProgram ParseLauncherProgram(const std::string& name) {
  for (const LauncherProgram known :
       {LauncherProgram::kRingside, LauncherProgram::kMpirun, LauncherProgram::kSrun}) {
    if (name == LauncherProgramName(known)) return known;
  }
  throw ConfigError("'" + name + "' is not one of ringside, mpirun, srun");
}

}  // namespace ringside

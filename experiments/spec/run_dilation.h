#ifndef RINGSIDE_EXPERIMENTS_SPEC_RUN_DILATION_H_
#define RINGSIDE_EXPERIMENTS_SPEC_RUN_DILATION_H_

#include <string>

#include "ringside/experiments/spec/run_spec.h"

namespace ringside {

/// The least whole factor with which a machine with `cores` can carry what the hosts of a resolved
/// run can send (`NeededDilation`); 1 without an emulated network. Pure.
double NeededDilationOf(const RunSpec& spec, int cores);

/// The factor by which a resolved run is slowed down on a machine with `cores`
/// (`ChooseDilation`); 1 without an emulated network. Pure.
double DilationOf(const RunSpec& spec, int cores);

/// A sentence for a run whose network allows less than its automatic factor would have to be; else
/// empty. Pure.
std::string DilationShortfall(const RunSpec& spec, int cores);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SPEC_RUN_DILATION_H_

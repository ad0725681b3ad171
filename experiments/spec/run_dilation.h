#ifndef RINGSIDE_EXPERIMENTS_SPEC_RUN_DILATION_H_
#define RINGSIDE_EXPERIMENTS_SPEC_RUN_DILATION_H_

#include "ringside/experiments/spec/run_spec.h"

namespace ringside {

/// The factor by which a resolved run is slowed down on a machine with `cores`
/// (`ChooseDilation`); 1 without an emulated network. Pure.
double DilationOf(const RunSpec& spec, int cores);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SPEC_RUN_DILATION_H_

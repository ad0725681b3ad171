#ifndef RINGSIDE_EXPERIMENTS_SPEC_RESOLVE_RESOLVE_MODEL_H_
#define RINGSIDE_EXPERIMENTS_SPEC_RESOLVE_RESOLVE_MODEL_H_

// Private to the .cc files of this folder.

#include "ringside/experiments/spec/catalog.h"
#include "ringside/experiments/spec/run_spec.h"

namespace ringside {

// The parts of `Resolve` that are about what is trained. They throw `SpecKeyError`.

/// Names the model of a run whose model is a program.
void ResolveProgram(RunSpec& spec);
void ResolveModel(const RunSpec& spec, const ModelEntry& model);
/// Fills in the dataset, if none is named.
void ResolveData(RunSpec& spec, const ModelEntry& model);
/// That this machine has the program, and the files of model and dataset.
void RequireFiles(const RunSpec& spec);
/// A model that really computes cannot be slowed down.
void CheckDilationOf(const RunSpec& spec, const ModelEntry& model);
void RefuseIdleServers(const RunSpec& spec, const ModelEntry& model);
/// Throws `MissingKeyError` when this build lacks the model.
void RequireModel(const RunSpec& spec, const ModelEntry& model);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_SPEC_RESOLVE_RESOLVE_MODEL_H_

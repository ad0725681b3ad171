#ifndef RINGSIDE_EXPERIMENTS_REPORT_STUDY_SCALING_H_
#define RINGSIDE_EXPERIMENTS_REPORT_STUDY_SCALING_H_

#include <string>
#include <vector>

#include "experiments/report/study_table.h"

namespace ringside {

/// "ps-sync with 2 servers over shm"; without the workers and the varied keys. Pure.
std::string SideText(const StudyCell& cell);

/// "network=1Gbps, codec=fp16": the varied keys that `SharedKeys` has, with the codec. Pure.
std::string WorkloadText(const StudyCell& cell);

/// "4 workers, network=1Gbps". Pure.
std::string PlaceText(const StudyCell& cell);

/// "; transports differ: grpc against shm" of two that are compared; empty where they do not. Pure.
std::string TransportsText(const StudyCell& first, const StudyCell& second);

/// The series of cells that differ in the number of workers alone, with their fits. A study whose
/// dedicated servers follow the workers has them in series of their own. Pure.
std::vector<StudyScaling> ScalingOf(const std::vector<StudyCell>& cells);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_REPORT_STUDY_SCALING_H_

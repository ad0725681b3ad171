#ifndef RINGSIDE_EXPERIMENTS_JOB_LAUNCHER_MAKE_MEMBER_SETUP_H_
#define RINGSIDE_EXPERIMENTS_JOB_LAUNCHER_MAKE_MEMBER_SETUP_H_

#include <string>

#include "ringside/experiments/job/core/job_options.h"
#include "ringside/experiments/job/placement/placement.h"
#include "ringside/experiments/job/processes/member_setup.h"
#include "ringside/experiments/spec/run_spec.h"

namespace ringside {

/// Returns what a member of the job is told, except the coordinator's address and the token.
/// `address`: where the member listens. With `spec.hosts`, the workers are spread over that many
/// hosts, whatever `place` says.
MemberSetup MakeMemberSetup(const RunSpec& spec, const JobOptions& options, const Member& who,
                            const std::string& address, const LocalPlace& place);

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_LAUNCHER_MAKE_MEMBER_SETUP_H_

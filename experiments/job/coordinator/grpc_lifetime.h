#ifndef RINGSIDE_EXPERIMENTS_JOB_COORDINATOR_GRPC_LIFETIME_H_
#define RINGSIDE_EXPERIMENTS_JOB_COORDINATOR_GRPC_LIFETIME_H_

namespace ringside {

/// Keeps gRPC initialised until the process ends. Otherwise the end of the last channel or server
/// shuts the library down, and that waits for every timer thread that gRPC has counted. gRPC also
/// counts those that it could not start, where processes or memory are limited. It would wait for
/// them for ever. The engine that runs gRPC's timers does the same at its own end, so it is kept,
/// too.
void KeepGrpcInitialized();

/// Lets `exit` end the process without the destructors of static objects, after it has written what
/// is buffered. For a process in which threads of gRPC are stuck: they may still use such objects.
void ExitWithoutDestructors();

}  // namespace ringside

#endif  // RINGSIDE_EXPERIMENTS_JOB_COORDINATOR_GRPC_LIFETIME_H_

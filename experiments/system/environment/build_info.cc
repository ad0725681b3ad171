#include "ringside/experiments/system/environment/build_info.h"

#include "ringside/experiments/generated/git_version.h"

namespace ringside {

BuildInfo ThisBuild() {
  return {.version = RINGSIDE_VERSION,
          .git = kGitVersion,
          .build_type = RINGSIDE_BUILD_TYPE,
          .compiler = RINGSIDE_COMPILER,
          .grpc = RINGSIDE_GRPC_VERSION,
          .protobuf = RINGSIDE_PROTOBUF_VERSION,
          .gloo = RINGSIDE_GLOO_VERSION,
          .mpi = RINGSIDE_MPI_VERSION,
          .nccl = RINGSIDE_NCCL_VERSION,
          .libtorch = RINGSIDE_LIBTORCH_VERSION};
}

std::string LibraryVersion(std::string_view library) {
  const BuildInfo build = ThisBuild();
  if (library == "OpenMPI") return build.mpi;
  if (library == "NCCL") return build.nccl;
  return {};
}

}  // namespace ringside
